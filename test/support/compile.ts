import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

const ROOT = join(__dirname, '../..');
const CACHE = join(ROOT, '.cache');
const FASTEST = 'typescript-7';

/** An error of the compiler: where, and its whole message with all continuation lines. */
export interface Diagnostic {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** The declarations of lib, to compile against as users do: to check lib itself each time takes three times the work. */
export class Declarations implements AsyncDisposable {
  private constructor(private readonly folder: string) {}

  static async emit(): Promise<Declarations> {
    await mkdir(CACHE, { recursive: true });
    const folder = await mkdtemp(join(CACHE, 'declarations-'));
    await tsc(FASTEST, join(ROOT, 'tsconfig.build.json'), [
      ...['--emitDeclarationOnly', '--noCheck'],
      ...['--outDir', join(folder, 'lib')],
    ]);
    return new Declarations(folder);
  }

  /** The project of a folder, whose `nest-redis-lock` are these declarations. */
  async project(folder: string): Promise<string> {
    const file = join(await mkdtemp(join(this.folder, 'project-')), 'tsconfig.json');
    const paths = { 'nest-redis-lock': ['../lib/index.d.ts'], 'nest-redis-lock/*': ['../lib/*/index.d.ts'] };
    const project = { extends: join(folder, 'tsconfig.json'), compilerOptions: { paths } };
    await writeFile(file, JSON.stringify({ ...project, include: [join(folder, '*.ts')], exclude: [] }));
    return file;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true });
  }
}

/**
 * Compiles the files of a folder with the compiler of one of the installed TypeScript packages,
 * and gives the errors in these files, named relative to the folder.
 */
export async function compile(
  compiler: string,
  folder: string,
  declarations: Declarations,
): Promise<Diagnostic[]> {
  const output = await tsc(compiler, await declarations.project(folder), ['--noEmit', '--pretty', 'false']);
  return diagnosticsOf(output).filter(({ file }) => !file.startsWith('..'));

  function diagnosticsOf(text: string): Diagnostic[] {
    const diagnostics: Diagnostic[] = [];
    for (const [, file = '', line, first, rest = ''] of text.matchAll(DIAGNOSTIC)) {
      diagnostics.push({ file: relative(folder, file), line: Number(line), message: first + rest });
    }
    return diagnostics;
  }
}

/** How many types the compiler instantiates to check the files of a folder, which have no error. */
export async function instantiations(
  compiler: string,
  folder: string,
  declarations: Declarations,
): Promise<number> {
  const project = await declarations.project(folder);
  const output = await tsc(compiler, project, ['--noEmit', '--pretty', 'false', '--extendedDiagnostics']);
  if (/error TS/.test(output)) throw new Error(output);
  return Number(/Instantiations:\s*(\d+)/.exec(output)?.[1]);
}

/** `file(line,column): error TS…: message`, then the indented lines that belong to it. */
const DIAGNOSTIC = /^(\S[^\n(]*)\((\d+),\d+\): error (TS\d+: [^\n]*)((?:\n +[^\n]*)*)/gm;

async function tsc(compiler: string, project: string, options: readonly string[]): Promise<string> {
  const program = join(dirname(require.resolve(`${compiler}/package.json`)), 'bin', 'tsc');
  // Threads of TypeScript 7 check again what they have in common: one alone needs two thirds of the work.
  const threads = compiler === FASTEST ? ['--singleThreaded'] : [];
  return run(process.execPath, [program, '--project', project, ...options, ...threads]);
}

/** The compiler ends with 1 or 2 where it found errors, which is no failure of the run. */
function run(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error && stderr !== '') reject(new Error(stderr, { cause: error }));
      else resolve(stdout);
    });
  });
}
