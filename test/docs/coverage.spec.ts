import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, tableOf } from './documents.js';

const rows = tableOf('row');

describe('the table of what has to be covered', () => {
  it('has every row once', () => {
    expect(rows.map(({ row }) => row)).toEqual(Array.from({ length: 13 }, (_, i) => `${i + 1}`));
  });

  const tests = rows.flatMap(({ row = '', tests: files = '' }) =>
    [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => ({ row, file })),
  );

  it.each(tests)('names a file with tests of row $row: $file', ({ row, file }) => {
    const source = readFileSync(join(root, file), 'utf8');
    expect(source).toMatch(new RegExp(`\\((?:row \\d+, )*row ${row}\\b`));
  });

  it.each(rows)('names at least one file for row $row', ({ row }) => {
    expect(tests.filter((test) => test.row === row)).not.toEqual([]);
  });
});
