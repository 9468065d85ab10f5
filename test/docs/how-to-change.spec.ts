import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root, tableOf } from './documents.js';

/** The codes of a cell. */
const codesIn = (cell = ''): string[] => Array.from(cell.matchAll(/`([^`]+)`/g), ([, code = '']) => code);

const changes = tableOf('change').map(({ change = '', example, ...files }) => ({
  change,
  examples: codesIn(example),
  lib: codesIn(files['files of lib']),
  beside: codesIn(files['beside lib']),
}));

/** Whether a file contains one of the examples, as a whole word. */
function has(file: string, examples: readonly string[]): boolean {
  const source = readFileSync(join(root, file), 'utf8');
  return examples.some((example) =>
    new RegExp(String.raw`(?<![\w-])${example.replaceAll('.', '[.]')}(?![\w-])`).test(source),
  );
}

describe.each(changes)('How to change it: $change', ({ examples, lib, beside }) => {
  it('lists files that the example needs', () => {
    expect(examples.length).toBeGreaterThan(0);
    expect([...lib, ...beside].filter((file) => !has(file, examples))).toEqual([]);
  });

  it('lists all files with the example in their folders of lib', () => {
    const folders = [...new Set(lib.map((file) => dirname(file)))];
    const files = folders.flatMap((folder) =>
      readdirSync(join(root, folder))
        .filter((file) => file.endsWith('.ts'))
        .map((file) => `${folder}/${file}`),
    );
    expect(files.filter((file) => has(file, examples)).toSorted()).toEqual(lib.toSorted());
  });
});
