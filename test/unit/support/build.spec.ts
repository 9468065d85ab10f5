import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { provideBuild } from '../../../tools/setup/build.mjs';

describe('provideBuild', () => {
  let root: string;
  let ran: string[];

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'build-'));
    ran = [];
    write('lib/engine/hold.ts', 'hold');
    write('package.json', '{}');
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function write(file: string, text: string): void {
    mkdirSync(join(root, file, '..'), { recursive: true });
    writeFileSync(join(root, file), text);
  }

  function provide({ succeeds = true, codeOnly = false } = {}): void {
    const system = {
      run(_program: string, args: string[]) {
        ran.push(args.join(' '));
        if (succeeds) write('dist/index.js', 'code');
        return succeeds;
      },
    };
    provideBuild(root, system, { codeOnly });
  }

  it('builds in a fresh clone, and not again', () => {
    provide();
    provide();

    expect(ran).toEqual(['tools/build.mjs']);
  });

  it.each([
    ['a source is changed', () => write('lib/engine/hold.ts', 'holds')],
    ['a source is added', () => write('lib/engine/lease.ts', '')],
    [
      'a source has another name',
      () => {
        rmSync(join(root, 'lib/engine/hold.ts'));
        write('lib/engine/holds.ts', 'hold');
      },
    ],
    ['other packages are asked for', () => write('package-lock.json', '{}')],
    ['dist was changed by hand', () => write('dist/index.js', 'mended')],
    ['dist has a file more', () => write('dist/old.js', '')],
    ['dist was removed', () => rmSync(join(root, 'dist'), { recursive: true })],
  ])('builds again when %s', (_what, change) => {
    provide();
    change();
    provide();

    expect(ran).toHaveLength(2);
  });

  it('builds only the code by default, and the declarations on request', () => {
    provide({ codeOnly: true });
    provide({ codeOnly: true });
    provide();
    provide({ codeOnly: true });

    expect(ran).toEqual(['tools/build.mjs --code', 'tools/build.mjs']);
  });

  it('says so when the build fails, and builds the next time', () => {
    expect(() => provide({ succeeds: false })).toThrow('The build failed');
    provide();

    expect(ran).toHaveLength(2);
  });
});
