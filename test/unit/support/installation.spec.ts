import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { provideInstallation } from '../../../tools/setup/installation.mjs';

interface Package {
  readonly version?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly dependencies?: Record<string, string>;
}

const LEFT_PAD = { version: '1.3.0', integrity: 'sha512-a' };

describe('provideInstallation', () => {
  let root: string;
  let ran: string[];
  let npmSucceeds: boolean;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'installation-'));
    ran = [];
    npmSucceeds = true;
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function wish(packages: Record<string, Package>): void {
    writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...packages } }));
  }

  function install(packages: Record<string, Package>): void {
    for (const folder of ['node_modules', ...Object.keys(packages)])
      mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, 'node_modules/.package-lock.json'), JSON.stringify({ packages }));
  }

  function provide(groups?: readonly string[]): void {
    const system = {
      run(program: string, args: string[]) {
        ran.push([program, ...args.filter((each) => !/^--(?:include=|no-)/.test(each))].join(' '));
        return npmSucceeds;
      },
    };
    provideInstallation(root, system, groups);
  }

  it('installs in a fresh clone', () => {
    wish({ 'node_modules/left-pad': LEFT_PAD });

    provide();

    expect(ran).toEqual(['npm ci']);
  });

  it('keeps an installation that matches the lock file', () => {
    wish({ 'node_modules/left-pad': LEFT_PAD });
    install({ 'node_modules/left-pad': LEFT_PAD });

    provide();

    expect(ran).toEqual([]);
  });

  it.each([
    ['lacks a package', {}],
    ['has another version', { 'node_modules/left-pad': { ...LEFT_PAD, version: '1.2.0' } }],
    ['has another tarball', { 'node_modules/left-pad': { ...LEFT_PAD, integrity: 'sha512-b' } }],
  ])('installs again if the installation %s', (_, installed) => {
    wish({ 'node_modules/left-pad': LEFT_PAD });
    install(installed);

    provide();

    expect(ran).toEqual(['npm install']);
  });

  it('installs again if the folder of a package is missing', () => {
    wish({ 'node_modules/left-pad': LEFT_PAD });
    install({ 'node_modules/left-pad': LEFT_PAD });
    rmSync(join(root, 'node_modules/left-pad'), { recursive: true });

    provide();

    expect(ran).toEqual(['npm install']);
  });

  describe('of one group', () => {
    const PACKAGES = {
      'tools/packages/start': { dependencies: { 'left-pad': '*' } },
      'node_modules/left-pad': { ...LEFT_PAD, dependencies: { pad: '*', text: '*' } },
      'node_modules/left-pad/node_modules/pad': { version: '1.0.0', dependencies: { text: '*' } },
      'node_modules/text': { version: '2.0.0' },
      'node_modules/jest': { version: '30.0.0' },
    };
    const { 'node_modules/jest': _, ...OF_THE_GROUP } = PACKAGES;

    it('installs its packages in a fresh clone', () => {
      wish(PACKAGES);

      provide(['start']);

      expect(ran).toEqual(['npm ci --workspace=tools/packages/start']);
    });

    it('needs no packages of other groups', () => {
      wish(PACKAGES);
      install(OF_THE_GROUP);

      provide(['start']);

      expect(ran).toEqual([]);
    });

    it.each(Object.keys(OF_THE_GROUP).slice(1))('misses %s, beside packages of other groups', (folder) => {
      const { [folder]: __, ...others } = PACKAGES as Record<string, Package>;
      wish(PACKAGES);
      install(others);

      provide(['start']);

      expect(ran).toEqual(['npm install --workspace=tools/packages/start']);
    });
  });

  it('does not miss optional packages of other systems', () => {
    wish({
      'node_modules/left-pad': LEFT_PAD,
      'node_modules/left-pad-win32': { ...LEFT_PAD, optional: true },
    });
    install({ 'node_modules/left-pad': LEFT_PAD });

    provide();

    expect(ran).toEqual([]);
  });

  it('fails if npm fails', () => {
    npmSucceeds = false;
    wish({ 'node_modules/left-pad': LEFT_PAD });

    expect(() => provide()).toThrow('npm ci failed');
  });
});
