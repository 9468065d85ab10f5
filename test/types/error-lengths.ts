import { join } from 'node:path';
import { compile, Declarations } from '../support/compile.js';

/**
 * Prints how many lines the compile errors of `@Locked` have, for each supported compiler:
 * `node --require ./tools/typescript.hook.cjs test/types/error-lengths.ts`
 */
async function main(): Promise<void> {
  await using declarations = await Declarations.emit();
  for (const compiler of ['typescript-5.9', 'typescript', 'typescript-7']) {
    const errors = await compile(compiler, join(__dirname, 'cases'), declarations);
    const lengths = errors.map(({ message }) => message.split('\n').length);
    const mean = lengths.reduce((sum, each) => sum + each, 0) / lengths.length;
    process.stdout.write(
      `${compiler}: ${errors.length} errors, ${mean.toFixed(1)} lines on average, ${Math.max(...lengths)} at most\n`,
    );
  }
}

void main();
