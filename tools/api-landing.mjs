import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The kinds of symbols in typedoc's names of folders, in the order in which readers need them. */
const KINDS = ['functions', 'classes', 'variables', 'interfaces', 'type-aliases'];

/**
 * What people do, with the entry point that they import from and the symbols that they need. Without symbols, a task has all
 * of its entry point.
 *
 * @type {{ task: string; guide: string; entry: string; symbols?: string }[]}
 */
const TASKS = [
  {
    task: 'Set up the module',
    guide: '[Options](../guide/options.md)',
    entry: 'index',
    symbols: `RedisLockModule RedisLockModuleOptions RedisLockModuleAsyncOptions RedisLockOptionsFactory
      RedisLockModuleExtras RedisLockModuleAsyncExtras LockPreset RedisLockAdvancedOptions ReplicaOptions`,
  },
  {
    task: 'Connect to Redis',
    guide: '[Connections](../guide/connections.md)',
    entry: 'index',
    symbols: 'LockConnection SingleConnection NodeRedisConnection LockCredentials CredentialsProvider',
  },
  {
    task: 'Connect with node-redis',
    guide: '[node-redis](../guide/connections.md#node-redis)',
    entry: 'node-redis',
  },
  {
    task: 'Lock a method',
    guide: '[The decorator](../guide/decorator.md) and [Keys](../guide/keys.md)',
    entry: 'index',
    symbols: `Locked Once CurrentLock LockedOptions OnceMethodOptions OnceDecorator KeySource KeyFunction LockedResult LockedDecorator LockedMetadata
      LOCKED_METADATA`,
  },
  {
    task: 'Lock in code',
    guide: '[The service](../guide/service.md)',
    entry: 'index',
    symbols: `LockService LockOptions Duration Lock LockedWork OnceOptions JsonValue LeadOptions InjectLockService
      getLockServiceToken`,
  },
  {
    task: 'Handle errors',
    guide: '[Errors](../guide/errors.md)',
    entry: 'index',
    symbols: `isLockError LockError LockTimeoutError LockUnavailableError LockLostError LockQueueFullError
      LockDeadlockError LockClosedError LockKeyError LockConfigError LockExceptionFilter LockHttpStatuses LockErrorCode
      LockLostReason LockErrorDetails LockTimeoutDetails LockLostDetails LockHolder DeadlockedCall`,
  },
  { task: 'Test without Redis', guide: '[Testing](../guide/testing.md)', entry: 'testing' },
  {
    task: 'See and release locks',
    guide: '[The service](../guide/service.md) and the [runbook](../operate/runbook.md)',
    entry: 'index',
    symbols:
      'LockSnapshot LockInfo DoneInfo LockListing ListOptions OwnHold ForceReleaseOptions ForcedRelease',
  },
  {
    task: 'Inspect locks in a browser',
    guide: '[Inspector](../operate/cli.md#inspector)',
    entry: 'inspector',
  },
  { task: 'Report health', guide: '[Health](../operate/metrics.md#health)', entry: 'terminus' },
  {
    task: 'Trace and measure',
    guide: '[Metrics and traces](../operate/metrics.md)',
    entry: 'opentelemetry',
  },
  {
    task: 'Listen to events',
    guide: '[Diagnostics channels](../operate/metrics.md#diagnostics-channels)',
    entry: 'diagnostics',
  },
];

/**
 * Writes the first page of the API in place of typedoc's lists: each symbol once, under what people do with it, with the
 * first sentence of its docstring.
 *
 * @param {string} folder with typedoc's pages
 * @throws Error when a symbol has no task, several, or no sentence, or when a task names a symbol that does not exist
 */
export function writeApiLanding(folder) {
  const symbols = symbolsIn(folder);
  const sections = TASKS.map(({ task, guide, entry, symbols: names }) => {
    const wanted =
      names?.split(/\s+/) ?? symbols.filter((symbol) => symbol.entry === entry).map(({ name }) => name);
    const rows = wanted.map((name) => {
      const index = symbols.findIndex((symbol) => symbol.entry === entry && symbol.name === name);
      const [symbol] = index < 0 ? [] : symbols.splice(index, 1);
      if (symbol === undefined) throw new Error(`The API has no ${name} in ${entry}, or two tasks name it.`);
      return `- [\`${name}\`](${symbol.page}): ${symbol.sentence}`;
    });
    const from = entry === 'index' ? 'nest-redis-lock' : `nest-redis-lock/${entry}`;
    return `## ${task}\n\nFrom \`${from}\`; see ${guide}.\n\n${rows.join('\n')}\n`;
  });
  const [forgotten] = symbols;
  if (forgotten !== undefined) throw new Error(`No task of the API's first page has ${forgotten.page}.`);
  const introduction =
    '# API\n\nEvery export, by what you do with it. Each page has the signature, units, errors and examples.\n';
  writeFileSync(join(folder, 'index.md'), [introduction, ...sections].join('\n'));
}

/**
 * The exported symbols of all entry points. Typedoc's own lists of them are removed.
 *
 * @param {string} folder
 */
function symbolsIn(folder) {
  const entries = readdirSync(folder, { withFileTypes: true }).filter((file) => file.isDirectory());
  return entries.flatMap(({ name: entry }) => {
    rmSync(join(folder, entry, 'index.md'));
    const kinds = readdirSync(join(folder, entry)).toSorted((a, b) => KINDS.indexOf(a) - KINDS.indexOf(b));
    return kinds.flatMap((kind) =>
      readdirSync(join(folder, entry, kind)).map((file) => {
        const page = `${entry}/${kind}/${file}`;
        return { entry, name: file.replace(/\.md$/, ''), page, sentence: firstSentence(join(folder, page)) };
      }),
    );
  });
}

/**
 * The first sentence on a page of typedoc, with code in place of its links.
 *
 * @param {string} file
 */
function firstSentence(file) {
  const paragraphs = readFileSync(file, 'utf8').split(/\n\n+/);
  const text = paragraphs.find((paragraph) => !/^(?:[#>|-]|```)/.test(paragraph)) ?? '';
  const plain = text
    .replace(/:\n- .*/s, '.')
    .replaceAll(/\[`?([^\]`]+)`?\]\([^)]+\)/g, '`$1`')
    .replaceAll(/\s+/g, ' ');
  const [sentence] = /^.+?\.(?= |$)/.exec(plain) ?? [];
  if (sentence === undefined) throw new Error(`${file} does not begin with a sentence.`);
  return sentence;
}
