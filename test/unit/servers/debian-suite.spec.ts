import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DebianSuite } from '../../servers/debian-suite.mjs';

const MIRROR = 'http://mirror.test/debian/';
const LOADER = 'lib/x86_64-linux-gnu/ld-linux-x86-64.so.2';

/** A machine whose apt knows a mirror, and a valkey-server there. */
class PretendedApt {
  targets = `http://other.test/debian/ main Other\n${MIRROR} main Debian`;
  version = '1:9.1.2-1';
  isReached = true;
  readonly ran: { program: string; args: readonly string[] }[] = [];
  private readonly depends: Record<string, string> = {
    'valkey-server': '  PreDepends: libc6\n |Depends: adduser\n  Depends: valkey-tools\n  Depends: <virtual>',
    'valkey-tools': '  Depends: libc6\n  Depends: libssl3t64',
    libc6: '  Depends: libgcc-s1\n  Recommends: libidn2-0',
  };

  read(_program: string, args: readonly string[]): string | undefined {
    const question = args.find((arg) => ['indextargets', 'show', 'depends'].includes(arg));
    if (question === 'indextargets') return this.targets;
    if (question === 'show') return args.at(-1) === 'valkey-server' ? `Version: ${this.version}` : undefined;
    return this.depends[args.at(-1) ?? ''];
  }

  run(program: string, args: readonly string[], { cwd = '' }: { readonly cwd?: string }): boolean {
    this.ran.push({ program, args });
    if (program === 'dpkg-deb') {
      const files = args[2] ?? '';
      mkdirSync(join(files, LOADER, '..'), { recursive: true });
      writeFileSync(join(files, LOADER), '');
    } else if (this.isReached && args.includes('download')) {
      writeFileSync(join(cwd, 'some.deb'), '');
    }
    return this.isReached;
  }

  /** What followed this word in each call. */
  after(word: string): (readonly string[])[] {
    return this.ran
      .filter(({ args }) => args.includes(word))
      .map(({ args }) => args.slice(args.indexOf(word) + 1));
  }
}

describe('A suite of Debian', () => {
  let root: string;
  let apt: PretendedApt;
  let suite: DebianSuite;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'nest-redis-lock-suite-'));
    apt = new PretendedApt();
    suite = new DebianSuite({ suite: 'forky' }, root, apt);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('is read from this system’s package sources', () => {
    expect(suite.refresh()).toBe(true);
    expect(readFileSync(join(root, 'sources.list'), 'utf8')).toMatch(
      /^deb \[signed-by=\S+\] http:\/\/mirror\.test\/debian\/ forky main\n$/,
    );
  });

  it('is read from there also before this system has fetched its lists', () => {
    apt.targets = `http://other.test/apt main $(ORIGIN)\n${MIRROR} main $(ORIGIN)`;
    suite.refresh();
    expect(readFileSync(join(root, 'sources.list'), 'utf8')).toContain(MIRROR);
  });

  it('keeps lists, caches and state out of the folders of the system', () => {
    suite.refresh();
    const [options = []] = apt.ran.map(({ args }) => args.filter((arg) => arg.startsWith('Dir::')));

    expect(options).toEqual(
      expect.arrayContaining([
        `Dir::State::lists=${join(root, 'lists')}`,
        `Dir::State::status=${join(root, 'status')}`,
        `Dir::Cache=${join(root, 'cache')}`,
      ]),
    );
    for (const option of options) expect(option).toContain(`=${root}`);
  });

  it('is unavailable if apt knows no archive of Debian', () => {
    apt.targets = 'http://other.test/ubuntu main Ubuntu';
    expect(() => suite.refresh()).toThrow('apt here knows no archive of Debian');
  });

  it('gives a server with the libraries that it needs, and nothing of the system around them', () => {
    suite.refresh();
    const program = suite.provide('valkey-server');

    expect(apt.after('download')).toEqual([
      ['valkey-server', 'libc6', 'valkey-tools', 'libgcc-s1', 'libssl3t64'],
    ]);
    expect(program).toBe(join(root, 'valkey-server_1%3A9.1.2-1', 'valkey-server'));
    expect(statSync(program).mode & 0o111).not.toBe(0);
    expect(readFileSync(program, 'utf8')).toContain(`exec "$here/${LOADER}" --library-path`);
  });

  it('downloads missing packages, and then only newer ones', () => {
    suite.refresh();
    const first = suite.provide('valkey-server');
    expect(suite.provide('valkey-server')).toBe(first);
    expect(apt.after('download')).toHaveLength(1);

    apt.version = '1:9.1.3-1';
    expect(suite.provide('valkey-server')).not.toBe(first);
    expect(apt.after('download')).toHaveLength(2);
  });

  it('continues with existing packages if the archive is unreachable', () => {
    suite.refresh();
    const program = suite.provide('valkey-server');
    apt.isReached = false;

    expect(suite.refresh()).toBe(false);
    expect(suite.provide('valkey-server')).toBe(program);
  });

  it('leaves nothing behind that could be taken for a server when it cannot be fetched', () => {
    suite.refresh();
    apt.isReached = false;

    expect(() => suite.provide('valkey-server')).toThrow(
      'valkey-server of Debian’s forky could not be fetched',
    );
    expect(existsSync(join(root, 'valkey-server_1%3A9.1.2-1'))).toBe(false);
  });

  it('reports an unknown server', () => {
    suite.refresh();
    expect(() => suite.provide('keydb-server')).toThrow('no keydb-server in Debian’s forky');
  });
});
