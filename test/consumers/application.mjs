import { cp, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { manifestOf, neighboursOf } from './applications.mjs';
import { runProgram } from './run-program.mjs';
import { generatedSources } from './generated-sources.mjs';

const SOURCES = fileURLToPath(new URL('sources', import.meta.url));

/** What `nest new` says to the compiler, but strict and with a look into the declarations of packages. */
const compilerOptions = {
  target: 'es2023',
  module: 'nodenext',
  moduleResolution: 'nodenext',
  strict: true,
  skipLibCheck: false,
  isolatedModules: true,
  esModuleInterop: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  types: ['node'],
  rootDir: '.',
  outDir: 'dist',
};

/** A new application in a directory of its own. */
export class Application {
  /**
   * @param {import('./applications.mjs').ApplicationKind} kind
   * @param {string} directory
   * @param {import('./package-under-test.mjs').PackageUnderTest} tested
   * @param {AbortSignal} signal
   */
  constructor(kind, directory, tested, signal) {
    this.kind = kind;
    this.directory = directory;
    this.tested = tested;
    this.signal = signal;
  }

  /**
   * @param {import('./applications.mjs').ApplicationKind} kind
   * @param {import('./package-under-test.mjs').PackageUnderTest} tested
   * @param {{ scratch: string, signal: AbortSignal }} settings where to make its directory, and what ends the
   *   programs that it runs
   */
  static async create(kind, tested, { scratch, signal }) {
    const directory = await mkdtemp(join(scratch, 'application-'));
    const application = new Application(kind, directory, tested, signal);
    const files = {
      'package.json': JSON.stringify(manifestOf(kind, tested)),
      'tsconfig.json': JSON.stringify({
        compilerOptions: { ...compilerOptions, ...kind.compilerOptions },
        include: ['src', 'test'],
      }),
      'tsconfig.build.json': JSON.stringify({
        extends: './tsconfig.json',
        // The declarations of packages are looked into by the checks of types alone.
        compilerOptions: { rootDir: 'src', skipLibCheck: true },
        include: ['src'],
      }),
      'nest-cli.json': JSON.stringify({ sourceRoot: 'src' }),
      ...generatedSources(kind, tested.entryPointsIn(kind)),
    };
    for (const [name, text] of Object.entries(files)) {
      await mkdir(join(directory, name, '..'), { recursive: true });
      await writeFile(join(directory, name), text);
    }
    await cp(SOURCES, directory, { recursive: true });
    return application;
  }

  /** Installs its packages, then its neighbours; what npm has to say about peers is an error. */
  async install() {
    await this.npmInstall();
    const neighbours = neighboursOf(this.kind);
    if (neighbours.length > 0) await this.npmInstall(...neighbours);
    await this.run('npm', ['ls', '--all']);
    // A second copy, as npm makes one where a dependency asks for another version.
    const [first, second] = ['', 'second'].map((from) =>
      join(this.directory, from, 'node_modules/nest-redis-lock'),
    );
    await cp(first, second, { recursive: true });
  }

  /** @param {string[]} packages none for those of its package.json */
  async npmInstall(...packages) {
    const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--strict-peer-deps'];
    const output = await this.run('npm', ['install', ...flags, ...packages]);
    if (/peer|ERESOLVE/i.test(output)) throw new Error(`npm install warns of peers:\n${output}`);
  }

  /**
   * Builds it by a program of its own, and keeps the result.
   *
   * @param {string} name
   * @param {readonly string[]} args
   */
  async build(name, args) {
    await rm(join(this.directory, 'dist'), { recursive: true, force: true });
    await this.run(process.execPath, args);
    await mkdir(join(this.directory, 'built'), { recursive: true });
    await rename(join(this.directory, 'dist'), join(this.directory, 'built', name));
  }

  /**
   * A file of a build, wherever its tool puts it.
   *
   * @param {string} build
   * @param {string} name
   */
  async builtFile(build, name) {
    const directory = join(this.directory, 'built', build);
    const files = await readdir(directory, { recursive: true }).catch(() => []);
    const [file] = files.filter((each) => each === name || each.endsWith(`/${name}`));
    if (file === undefined) throw new Error(`The build "${build}" has no ${name}`);
    return join(directory, file);
  }

  /**
   * @param {string} program
   * @param {readonly string[]} args
   */
  run(program, args) {
    return runProgram(program, args, { cwd: this.directory, signal: this.signal });
  }
}
