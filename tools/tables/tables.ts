import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import ts from 'typescript';
import { ExitCode } from '../../lib/cli/exit-code';
import * as lib from '../../lib/index';
import { HTTP_STATUS_DEFAULTS, LOCK_OPTIONS } from '../../lib/options/option-table';

const root = join(__dirname, '../..');

/** A table of a page that is made from the code and its docstrings. */
export interface GeneratedTable {
  readonly page: string;
  /** The header of its first column, and the name in its marker. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Where the pages tell more about an option. */
const MORE: Readonly<Record<string, string>> = {
  mode: '[readers and writers](readers-and-semaphores.md#readers-and-writers)',
  limit: '[semaphores](readers-and-semaphores.md#semaphores)',
  permits: '[several permits](readers-and-semaphores.md#several-permits-at-once)',
  preset: '[presets](#presets)',
  replicas: '[replicas](../operate/topologies.md#replicas)',
};

export function generatedTables(): readonly GeneratedTable[] {
  return [optionsOfAcquires(), errors(), exitCodes()];
}

function optionsOfAcquires(): GeneratedTable {
  const docs = docsIn('lib/options/lock-options.interface.ts', 'LockOptions');
  return {
    page: 'docs/guide/options.md',
    name: 'option of an acquire',
    columns: ['default', 'meaning'],
    rows: Object.entries(LOCK_OPTIONS).map(([name, option]) => {
      const initial: unknown = Reflect.get(option, 'initial');
      const more = MORE[name] === undefined ? '' : ` More: ${MORE[name]}.`;
      return [code(name), initial === undefined ? 'none' : literal(initial), cellOf(docs, name) + more];
    }),
  };
}

function errors(): GeneratedTable {
  const files = ['lock', 'lock-timeout', 'lock-deadlock', 'lock-lost'].map(
    (name) => `lib/errors/${name}.error.ts`,
  );
  const docs = new Map(files.flatMap((file) => [...docsIn(file)]));
  const classes = Object.values(lib).filter(
    (value): value is typeof lib.LockKeyError =>
      typeof value === 'function' && Object.getPrototypeOf(value) === lib.LockError,
  );
  return {
    page: 'docs/guide/errors.md',
    name: 'class',
    columns: ['code', 'HTTP', 'when'],
    rows: classes.map((LockErrorClass) => {
      const { name, code: errorCode } = new LockErrorClass('', { waited: 0 } as never);
      return [code(name), code(errorCode), code(HTTP_STATUS_DEFAULTS[errorCode]), cellOf(docs, name)];
    }),
  };
}

function exitCodes(): GeneratedTable {
  const docs = docsIn('lib/cli/exit-code.ts', 'ExitCode');
  return {
    page: 'docs/operate/cli.md',
    name: 'code',
    columns: ['meaning'],
    rows: Object.entries(ExitCode).map(([name, number]) => [`${number}`, cellOf(docs, name)]),
  };
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** A table in Markdown. */
export function markdownOf({ name, columns, rows }: GeneratedTable): string {
  const head = [name, ...columns];
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** The docstrings of a file's declarations, or of the members of one of them, by name. */
function docsIn(file: string, container?: string): ReadonlyMap<string, string> {
  const source = ts.createSourceFile(
    file,
    readFileSync(join(root, file), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const docs = new Map<string, string>();
  const visit = (node: ts.Node, within: boolean): void => {
    const name = (node as { readonly name?: ts.Node }).name?.getText();
    const text = ts.getJSDocCommentsAndTags(node).find(ts.isJSDoc)?.comment;
    if (within && name !== undefined && text !== undefined && !docs.has(name))
      docs.set(name, ts.getTextOfJSDocComment(text) ?? '');
    ts.forEachChild(node, (child) => visit(child, within || name === container));
  };
  visit(source, container === undefined);
  return docs;
}

/** The first paragraph of a docstring, without what other columns say. */
function cellOf(docs: ReadonlyMap<string, string>, name: string): string {
  const [paragraph] = docs.get(name)?.split('\n\n') ?? [];
  if (paragraph === undefined) throw new Error(`${name} has no docstring.`);
  return paragraph
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\{@link ([^}]+)\}/g, '`$1`')
    .replace(/ Default:? [^.]*\./, '')
    .replace(/ HTTP clients receive .*/, '')
    .replaceAll('|', String.raw`\|`);
}

function literal(value: unknown): string {
  return code(inspect(value, { numericSeparator: true }));
}

function code(text: string | number): string {
  return `\`${text}\``;
}
