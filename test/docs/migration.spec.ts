import { join } from 'node:path';
import * as lib from '../../lib/index.js';
import { compileSnippets } from './compile-snippets.js';
import { MarkdownDocument } from './markdown-document.js';

const readme = new MarkdownDocument(join(__dirname, '../../README.md'));

const IMPORTS = `
  import { Locked, RedisLockModule, type Lock, type LockModuleOptions, type LockService } from 'nest-redis-lock';
  import type { Redis } from 'ioredis';
`;
const SURROUNDINGS = 'locks: LockService, lock: Lock, signal: AbortSignal, client: Redis';

/** A piece of code of a table as a file that compiles only if this module has what it uses. */
function sourceOf(code: string): string {
  if (code.startsWith('@')) {
    return `${IMPORTS} export class Migrated { ${code} async run(_id: string): Promise<void> {} }`;
  }
  if (/^[a-z]\w+(?:: |$)/i.test(code)) {
    const option = code.includes(':') ? code : `${code}: undefined`;
    return `${IMPORTS} export const options: LockModuleOptions = { ${option} };`;
  }
  return `${IMPORTS} export async function migrated(${SURROUNDINGS}): Promise<void> { { ${code}; } }`;
}

describe.each(['redlock', 'redis-semaphore', 'nestjs-redlock-universal'])('the table from %s', (name) => {
  const codes = readme
    .table(name)
    .flatMap((row) => [...(row['this module'] ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code));
  const classes = codes.filter((code) => /^[A-Z]\w+$/.test(code));
  const others = codes.filter((code) => !classes.includes(code));

  it('names calls and options that this module has', () => {
    const errors = compileSnippets(others.map(sourceOf));
    expect(others.filter((_code, index) => errors[index]?.length !== 0)).toEqual([]);
    expect(others.length).toBeGreaterThan(5);
  });

  it('names classes that this module has', () => {
    expect(Object.keys(lib)).toEqual(expect.arrayContaining(classes));
  });
});
