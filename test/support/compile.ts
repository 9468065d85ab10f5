import { execFile } from 'node:child_process';
import { dirname, join, relative } from 'node:path';

/** An error of the compiler: where, and its whole message with all continuation lines. */
export interface Diagnostic {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/**
 * Compiles the files of a folder with the compiler of one of the installed TypeScript packages,
 * and gives the errors in these files, named relative to the folder.
 */
export async function compile(compiler: string, folder: string): Promise<Diagnostic[]> {
  const tsc = join(dirname(require.resolve(`${compiler}/package.json`)), 'bin', 'tsc');
  // Threads of TypeScript 7 check again what they have in common: one alone needs two thirds of the work.
  const threads = compiler === 'typescript-7' ? ['--singleThreaded'] : [];
  const options = ['--noEmit', '--pretty', 'false', ...threads];
  const output = await run(process.execPath, [tsc, '--project', folder, ...options]);
  return diagnosticsOf(output).filter(({ file }) => !file.startsWith('..'));

  function diagnosticsOf(text: string): Diagnostic[] {
    const diagnostics: Diagnostic[] = [];
    for (const [, file = '', line, first, rest = ''] of text.matchAll(DIAGNOSTIC)) {
      diagnostics.push({ file: relative(folder, file), line: Number(line), message: first + rest });
    }
    return diagnostics;
  }
}

/** `file(line,column): error TS…: message`, then the indented lines that belong to it. */
const DIAGNOSTIC = /^(\S[^\n(]*)\((\d+),\d+\): error (TS\d+: [^\n]*)((?:\n +[^\n]*)*)/gm;

/** The compiler ends with 1 or 2 where it found errors, which is no failure of the run. */
function run(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error && stderr !== '') reject(new Error(stderr, { cause: error }));
      else resolve(stdout);
    });
  });
}
