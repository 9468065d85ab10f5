import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import getPort from 'get-port';
import { compilerOptions } from './applications.mjs';

const require = createRequire(import.meta.url);
const { end, spawnWithLifeline } = require('../support/lifeline.ts');
const { OutputTail } = require('../support/output-tail.ts');
const { waitFor } = require('../support/wait-for.ts');

const SOURCES = fileURLToPath(new URL('sources', import.meta.url));

/** A new application in a directory of its own. */
export class Application {
  /**
   * @param {import('./applications.mjs').ApplicationKind} kind
   * @param {string} directory
   * @param {AbortSignal} signal
   */
  constructor(kind, directory, signal) {
    this.kind = kind;
    this.directory = directory;
    this.signal = signal;
  }

  /**
   * @param {import('./applications.mjs').ApplicationKind} kind
   * @param {{ scratch: string, tarball: string, main: string, signal: AbortSignal }} settings where to make its
   *   directory, the package under test, the source of main.ts, and what ends the programs that it runs
   */
  static async create(kind, { scratch, tarball, main, signal }) {
    const directory = await mkdtemp(join(scratch, 'application-'));
    const manifest = {
      name: 'consumer',
      private: true,
      ...kind.manifest,
      dependencies: { ...kind.manifest.dependencies, 'nest-redis-lock': `file:${tarball}` },
    };
    await writeFile(join(directory, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
    await mkdir(join(directory, 'src'));
    await writeFile(join(directory, 'src/main.ts'), main);
    await cp(SOURCES, directory, { recursive: true });
    return new Application(kind, directory, signal);
  }

  /** Installs its packages; what npm has to say about peers is an error. */
  async install() {
    const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--strict-peer-deps'];
    const output = await this.run('npm', ['install', ...flags]);
    if (/peer|ERESOLVE/i.test(output)) throw new Error(`npm install warns of peers:\n${output}`);
    await this.run('npm', ['ls', '--all']);
  }

  async compile() {
    await this.run(process.execPath, ['node_modules/typescript/bin/tsc', '--project', '.']);
  }

  /** @param {string} file */
  async runScript(file) {
    await this.run(process.execPath, [file]);
  }

  async runJest() {
    const jest = ['node_modules/jest/bin/jest.js', '--rootDir', 'dist', '--transform', '{}'];
    await this.run(process.execPath, [...this.kind.jestFlags, ...jest]);
  }

  /**
   * Runs its main.js while `visit` visits it. It must end when it is told to, and leave stderr empty.
   *
   * @param {string} redisUrl
   * @param {(url: string) => Promise<void>} visit
   */
  async serve(redisUrl, visit) {
    const port = await getPort({ host: '127.0.0.1' });
    const [output, errors] = [new OutputTail(), new OutputTail()];
    const child = spawnWithLifeline(process.execPath, [join(this.directory, 'dist/main.js')], {
      env: { ...process.env, PORT: String(port), REDIS_URL: redisUrl },
    });
    output.collect(child.stdout);
    errors.collect(child.stderr);
    const said = () => `It said:\n${output.toString()}\n${errors.toString()}`;
    try {
      const url = `http://127.0.0.1:${port}`;
      await waitFor(() => fetch(url), { timeout: 20_000, that: 'the application to listen' }).catch(
        (cause) => {
          throw new Error(`The application did not start. ${said()}`, { cause });
        },
      );
      await visit(url);
    } finally {
      await end(child, 'SIGTERM');
    }
    if (errors.toString() !== '') throw new Error(`The application has complaints. ${said()}`);
  }

  /**
   * @param {string} program
   * @param {string[]} args
   * @returns {Promise<string>} what it printed
   */
  run(program, args) {
    return new Promise((resolve, reject) => {
      const options = { cwd: this.directory, maxBuffer: 2 ** 26, signal: this.signal };
      execFile(program, args, options, (error, stdout, stderr) => {
        const output = `${stdout}${stderr}`;
        if (error) reject(new Error(`${[program, ...args].join(' ')} failed:\n${output}`, { cause: error }));
        else resolve(output);
      });
    });
  }
}
