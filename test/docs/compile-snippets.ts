import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, Declarations } from '../support/compile.js';

const CACHE = join(__dirname, '../../.cache');

/** Those of the repository and of a new Nest application; unused names are no mistake in an example. */
const PROJECT = {
  extends: '../../tsconfig.json',
  compilerOptions: { isolatedModules: true, noUnusedLocals: false, noUnusedParameters: false },
  include: ['*.ts'],
  exclude: [],
};

/**
 * Compiles sources that are in no file, beside `fragment-context`, with the options of the repository.
 *
 * @returns the errors of each source, in the order of the sources
 */
export async function compileSnippets(sources: readonly string[]): Promise<readonly (readonly string[])[]> {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, 'snippets-'));
  try {
    const context = `export * from '../../test/docs/fragment-context.js';`;
    await Promise.all([
      writeFile(join(folder, 'tsconfig.json'), JSON.stringify(PROJECT)),
      writeFile(join(folder, 'fragment-context.ts'), context),
      ...sources.map((source, index) => writeFile(join(folder, fileOf(index)), source)),
    ]);
    await using declarations = await Declarations.emit();
    const errors = await compile('typescript-7', folder, declarations);
    return sources.map((_, index) =>
      errors
        .filter(({ file }) => file === fileOf(index))
        .map(({ line, message }) => `line ${line}: ${message}`),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

function fileOf(index: number): string {
  return `snippet-${index}.ts`;
}
