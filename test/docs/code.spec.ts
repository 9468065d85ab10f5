import * as lib from '../../lib/index.js';
import { compileSnippets } from './compile-snippets.js';
import { documents } from './documents.js';
import { sourceOfCell } from './migration-code.js';
import { sourceOf } from './snippet.js';

const blocks = documents.flatMap(({ file, document }) =>
  document.blocks
    .filter(({ language }) => language === 'ts')
    .map((block) => ({
      ...block,
      file,
      where: `${file}:${block.line}`,
      told: document.blocks.find((other) => other.language === 'text' && other.line > block.line)?.text,
    })),
);
const tables = documents
  .filter(({ file }) => ['docs/migrating.md', 'docs/zh-CN/redisson.md'].includes(file))
  .flatMap(({ document }) => document.tables)
  .map((rows) => ({ rows, cells: rows.flatMap((row) => row['this module'] ?? row['本模块'] ?? []) }))
  .filter(({ cells }) => cells.length > 0)
  .map(({ rows, cells }) => {
    const codes = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code));
    const classes = codes.filter((code) => /^[A-Z]\w+$/.test(code));
    const name = Object.keys(rows[0] ?? {})[0] ?? '';
    return { name, classes, others: codes.filter((code) => !classes.includes(code)) };
  });

// One program for all of them, since most of the time goes into the declarations of what they import.
const sources = [...blocks.map(sourceOf), ...tables.flatMap(({ others }) => others.map(sourceOfCell))];
const errors = new Map<string, readonly string[]>();
beforeAll(async () => {
  const found = await compileSnippets(sources);
  for (const [index, source] of sources.entries()) errors.set(source, found[index] ?? ['not compiled']);
}, 120_000);

describe('the TypeScript of the pages', () => {
  it.each(blocks.filter(({ marks }) => !marks.includes('refused')))('compiles in $where', (block) => {
    expect(errors.get(sourceOf(block))).toEqual([]);
  });

  it.each(blocks.filter(({ marks }) => marks.includes('refused')))(
    'is rejected by the compiler in $where, with the text that follows it',
    (block) => {
      const said = errors.get(sourceOf(block));
      expect(said).toHaveLength(1);
      expect(said?.[0]).toContain(block.told);
    },
  );
});

it.each(
  documents.filter(({ document }) => document.blocks.some(({ text }) => /@CurrentLock\(\)/.test(text))),
)(
  'The code of $file imports Lock as a type, without which a new application does not compile (TS1272)',
  ({ document }) => {
    const code = document.blocks.map(({ text }) => text).join('\n');
    expect(code).toMatch(/import \{[^}]*\btype Lock\b[^}]*\} from 'nest-redis-lock'/);
  },
);

describe.each(tables)('the table from $name', ({ classes, others }) => {
  it('names calls and options that this module has', () => {
    expect(others.filter((code) => errors.get(sourceOfCell(code))?.length !== 0)).toEqual([]);
    expect(others.length).toBeGreaterThan(5);
  });

  it('names classes that this module has', () => {
    expect(Object.keys(lib)).toEqual(expect.arrayContaining(classes));
  });
});

it('There is a table for each package to come from', () => {
  const packages = ['nestjs-redlock-universal', 'murlock', '@nestjs-redis/lock', 'nestjs-redisx'];
  expect(tables.map(({ name }) => name)).toEqual(['redlock', 'redis-semaphore', ...packages, 'Redisson']);
});
