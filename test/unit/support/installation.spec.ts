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
type Packages = Record<string, Package>;

const LEFT_PAD = { version: '1.3.0', integrity: 'sha512-a' };
const ONE = { 'node_modules/left-pad': LEFT_PAD };
const OF_THE_GROUP: Packages = {
  'tools/packages/start': { dependencies: { 'left-pad': '*' } },
  'node_modules/left-pad': { ...LEFT_PAD, dependencies: { pad: '*', text: '*' } },
  'node_modules/left-pad/node_modules/pad': { version: '1.0.0', dependencies: { text: '*' } },
  'node_modules/text': { version: '2.0.0' },
};
const ALL = { ...OF_THE_GROUP, 'node_modules/jest': { version: '30.0.0' } };

function without(packages: Packages, folder: string): Packages {
  const { [folder]: _, ...others } = packages;
  return others;
}

describe('provideInstallation', () => {
  let root: string;

  beforeEach(() => void (root = mkdtempSync(join(tmpdir(), 'installation-'))));
  afterEach(() => rmSync(root, { recursive: true }));

  function wish(packages: Packages): void {
    writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...packages } }));
  }

  function install(packages: Packages): void {
    for (const folder of ['node_modules', ...Object.keys(packages)])
      mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, 'node_modules/.package-lock.json'), JSON.stringify({ packages }));
  }

  /** Returns the commands that ran. */
  function provide(groups?: readonly string[], succeeds = true): string[] {
    const ran: string[] = [];
    const system = {
      run(program: string, args: string[]) {
        ran.push([program, ...args.filter((each) => !/^--(?:include=|no-)/.test(each))].join(' '));
        return succeeds;
      },
    };
    provideInstallation(root, system, groups);
    return ran;
  }

  it.each<[when: string, wished: Packages, installed: Packages | undefined, ran: string[]]>([
    ['installs in a fresh clone', ONE, undefined, ['npm ci']],
    ['keeps an installation that matches the lock file', ONE, ONE, []],
    ['installs again if a package is missing', ONE, {}, ['npm install']],
    [
      'installs again if there is another version',
      ONE,
      { 'node_modules/left-pad': { ...LEFT_PAD, version: '1.2.0' } },
      ['npm install'],
    ],
    [
      'installs again if there is another tarball',
      ONE,
      { 'node_modules/left-pad': { ...LEFT_PAD, integrity: 'sha512-b' } },
      ['npm install'],
    ],
    [
      'does not miss optional packages of other systems',
      { ...ONE, 'node_modules/left-pad-win32': { ...LEFT_PAD, optional: true } },
      ONE,
      [],
    ],
  ])('%s', (_when, wished, installed, ran) => {
    wish(wished);
    if (installed) install(installed);

    expect(provide()).toEqual(ran);
  });

  it('installs again if the folder of a package is missing', () => {
    wish(ONE);
    install(ONE);
    rmSync(join(root, 'node_modules/left-pad'), { recursive: true });

    expect(provide()).toEqual(['npm install']);
  });

  it.each<[what: string, installed: Packages | undefined, ran: string[]]>([
    ['its packages in a fresh clone', undefined, ['npm ci --workspace=tools/packages/start']],
    ['no packages of other groups', OF_THE_GROUP, []],
    ...Object.keys(OF_THE_GROUP)
      .slice(1)
      .map((folder): [string, Packages, string[]] => [
        `${folder}, beside packages of other groups`,
        without(ALL, folder),
        ['npm install --workspace=tools/packages/start'],
      ]),
  ])('of one group installs %s', (_what, installed, ran) => {
    wish(ALL);
    if (installed) install(installed);

    expect(provide(['start'])).toEqual(ran);
  });

  it('fails if npm fails', () => {
    wish(ONE);

    expect(() => provide(undefined, false)).toThrow('npm ci failed');
  });
});
