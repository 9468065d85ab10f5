import type { Meter, MetricOptions } from '@opentelemetry/api';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import ts from 'typescript';
import { ExitCode } from '../../lib/cli/exit-code';
import * as lib from '../../lib/index';
import { resolveLeadOptions } from '../../lib/options/lead-options';
import {
  ADVANCED_OPTIONS,
  HTTP_STATUS_DEFAULTS,
  LEAD_OPTIONS,
  LOCK_OPTIONS,
  LOCKED_OPTIONS,
  MODULE_OPTIONS,
} from '../../lib/options/option-table';
import { LockMetrics } from '../../lib/opentelemetry/lock-metrics';

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
  connection: '[connections](connections.md), [topologies](../operate/topologies.md)',
  credentials: '[credentials that expire](connections.md#credentials-that-expire)',
  presets: '[presets](#presets)',
  shutdownTimeout: '[shutdown](../operate/shutdown-and-outages.md)',
  startupChecks: '[doctor](../operate/cli.md#doctor)',
  http: '[errors](errors.md)',
  advanced: '[advanced options](#advanced-options)',
  layout: '[one endpoint before many shards](../servers.md#one-endpoint-before-many-shards)',
};

export function generatedTables(): readonly GeneratedTable[] {
  const modules = 'lib/options/module-options.interface.ts';
  const { pause } = resolveLeadOptions({});
  return [
    options('option of the module', MODULE_OPTIONS, docsIn(modules, 'RedisLockModuleOptions')),
    options('advanced option', ADVANCED_OPTIONS, docsIn(modules, 'RedisLockAdvancedOptions')),
    options(
      'option of an acquire',
      LOCK_OPTIONS,
      docsIn('lib/options/lock-options.interface.ts', 'LockOptions'),
    ),
    options(
      'option of the decorator',
      { ...LOCKED_OPTIONS, onTimeout: { initial: 'throw' } },
      docsIn('lib/nest/locked/locked-options.ts', 'LockedOptions'),
    ),
    {
      ...options(
        'option of a campaign',
        { signal: {}, ...LEAD_OPTIONS, pause: { initial: pause } },
        docsIn('lib/options/lead-options.ts', 'LeadOptions'),
      ),
      page: 'docs/guide/service.md',
    },
    errors(),
    exitCodes(),
    metrics(),
  ];
}

/** A table of options, in the order of the table of their checks. */
function options(
  name: string,
  table: Readonly<Record<string, object>>,
  docs: ReadonlyMap<string, string>,
): GeneratedTable {
  return {
    page: 'docs/guide/options.md',
    name,
    columns: ['default', 'meaning'],
    rows: Object.entries(table).map(([option, check]) => {
      const initial: unknown = Reflect.get(check, 'initial');
      const more = MORE[option] === undefined ? '' : ` More: ${MORE[option]}.`;
      return [code(option), initial === undefined ? 'none' : literal(initial), cellOf(docs, option) + more];
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

/** The metrics that the instrumentation makes, in its order. */
function metrics(): GeneratedTable {
  const made: string[][] = [];
  const make =
    (kind: string) =>
    (name: string, { description = '', unit = '' }: MetricOptions = {}): object => {
      made.push([code(name), kind, code(unit), description]);
      return new Proxy({}, { get: () => () => {} });
    };
  const meter = {
    createHistogram: make('histogram'),
    createCounter: make('counter'),
    createUpDownCounter: make('up-down counter'),
    createObservableUpDownCounter: make('up-down counter'),
    createObservableGauge: make('gauge'),
    addBatchObservableCallback: () => {},
  };
  const recorder = new LockMetrics(
    () => ({ getMeter: () => meter as unknown as Meter }),
    () => false,
  );
  // The first message makes them.
  recorder.listeners['nest-redis-lock:lease:renewal']?.({ names: [], took: 0, lag: 0, answered: true });
  return {
    page: 'docs/operate/metrics.md',
    name: 'metric',
    columns: ['kind', 'unit', 'meaning'],
    rows: made,
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
