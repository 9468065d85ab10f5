import type { Counter, Histogram, Meter, MetricOptions } from '@opentelemetry/api';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { scripts } from '../../package.json';
import * as lib from '../../lib/index.js';
import { assertLockedOptions } from '../../lib/decorators/locked-options.js';
import { HTTP_STATUS_DEFAULTS } from '../../lib/options/http-option.js';
import { resolveLeadOptions } from '../../lib/options/lead-options.js';
import { LOCK_OPTION_DEFAULTS, resolveLockOptions } from '../../lib/options/lock-options.js';
import { resolveModuleOptions } from '../../lib/options/module-options.js';
import { LockMetrics } from '../../lib/opentelemetry/lock-metrics.js';
import { LEAST_CLUSTER_RIGHTS, LEAST_RIGHTS, READY_CHECK_RIGHT } from '../engine/least-rights.js';
import { CHANNELS } from '../support/lock-events.js';
import { RedisServer } from '../support/redis-server.js';
import { compileSnippets } from './compile-snippets.js';
import { MarkdownDocument } from './markdown-document.js';
import { withApplication } from './quick-start.js';
import { sourceOf } from './snippet.js';

type Instrument = Counter & Histogram;

const root = join(__dirname, '../..');
const readme = new MarkdownDocument(join(root, 'README.md'));

describe('the TypeScript of the README', () => {
  const blocks = readme.blocks.filter(({ language }) => language === 'ts');
  const errors = compileSnippets(blocks.map(sourceOf));
  const named = blocks.map((block, index) => ({ ...block, errors: errors[index] ?? [] }));

  it.each(named.filter(({ marks }) => !marks.includes('refused')))('compiles in line $line', (block) => {
    expect(block.errors).toEqual([]);
  });

  it.each(named.filter(({ marks }) => marks.includes('refused')))(
    'is refused by the compiler in line $line, with the words that follow it',
    ({ line, errors: found }) => {
      const told = readme.blocks.find((block) => block.language === 'text' && block.line > line);
      expect(found).toHaveLength(1);
      expect(found[0]).toContain(told?.text);
    },
  );
});

describe('the quick start of the README', () => {
  const source = readme.blocks.find(({ marks }) => marks.includes('runnable'))?.text ?? '';
  let redis: RedisServer;

  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(async () => {
    await redis.stop();
  });

  function twoOrders(application: string): Promise<number[]> {
    return withApplication(application, redis.url, async (url) => {
      const orders = [1, 2].map(() => fetch(`${url}/orders/book`, { method: 'POST' }));
      const statuses = (await Promise.all(orders)).map(({ status }) => status);
      return statuses.toSorted((a, b) => a - b);
    });
  }

  it('sells the last piece once, of two orders at the same time', async () => {
    await expect(twoOrders(source)).resolves.toEqual([201, 409]);
  });

  it('sells it twice without the decorator', async () => {
    await expect(twoOrders(source.replace(/^ *@Locked.*$/m, ''))).resolves.toEqual([201, 201]);
  });
});

it('The README lists the rights that are enough, and no others', () => {
  const line = readme.blocks.find(({ text }) => text.startsWith('user locks '))?.text ?? '';
  const rights = line.split(' ').filter((word) => /^[~&+]/.test(word));
  expect(new Set(rights)).toEqual(new Set([...LEAST_RIGHTS, READY_CHECK_RIGHT]));
});

it('The README lists the further rights that are enough on a Cluster, and no others', () => {
  const line = readme.blocks.find(({ text }) => text.startsWith('&lock:{*}'))?.text ?? '';
  const further = LEAST_CLUSTER_RIGHTS.filter((right) => !LEAST_RIGHTS.includes(right));
  expect(new Set(line.trim().split(' '))).toEqual(new Set(further));
});

describe('the tables of the README', () => {
  it('show the options of an acquire with their defaults', () => {
    const known = knownOptions((options) => resolveLockOptions(LOCK_OPTION_DEFAULTS, options));
    expect(documentedDefaults('option of an acquire')).toEqual(defaultsOf(known, LOCK_OPTION_DEFAULTS));
  });

  it('show the options of the module with their defaults, but for those that an acquire has, too', () => {
    const { handoff, ...defaults } = resolveModuleOptions({});
    const acquire = knownOptions((options) => resolveLockOptions(LOCK_OPTION_DEFAULTS, options));
    const known = knownOptions(resolveModuleOptions).filter(
      (name) => name !== 'handoff' && !acquire.includes(name),
    );
    const withoutStatuses = { ...defaults, http: undefined };
    expect(documentedDefaults('option of the module')).toEqual({
      ...defaultsOf(known, withoutStatuses),
      http: 'statuses',
      'handoff.max': literal(handoff.max),
      'handoff.window': literal(handoff.window),
    });
  });

  it('show what the decorator takes beside the options of an acquire', () => {
    const acquire = knownOptions((options) => resolveLockOptions(LOCK_OPTION_DEFAULTS, options));
    const known = knownOptions(assertLockedOptions).filter((name) => !acquire.includes(name));
    expect(Object.keys(documentedDefaults('option of the decorator')).toSorted()).toEqual(known.toSorted());
  });

  it('show the options of a campaign with their defaults, but for those that an acquire has, too', () => {
    const acquire = knownOptions((options) => resolveLockOptions(LOCK_OPTION_DEFAULTS, options));
    const known = knownOptions((options) => resolveLeadOptions(options));
    const own = known.filter((name) => name === 'signal' || !acquire.includes(name));
    const { pause, onError, signal } = resolveLeadOptions({});
    expect(documentedDefaults('option of a campaign')).toEqual(defaultsOf(own, { pause, onError, signal }));
    expect(acquire.filter((name) => !known.includes(name)).toSorted()).toEqual([
      'limit',
      'mode',
      'outageTimeout',
      'reentrant',
      'wait',
    ]);
  });

  it('show every error class with its code and its HTTP status', () => {
    const rows = readme.table('class');
    const classes = [
      lib.LockKeyError,
      lib.LockDeadlockError,
      lib.LockQueueFullError,
      lib.LockUnavailableError,
      lib.LockLostError,
      lib.LockClosedError,
      lib.LockConfigError,
    ];
    const errors = [
      ...classes.map((LockErrorClass) => new LockErrorClass('')),
      new lib.LockTimeoutError('', { waited: 0 }),
    ];
    expect(rows.map(({ class: name, code, HTTP }) => ({ name, code, HTTP }))).toEqual(
      expect.arrayContaining(
        errors.map(({ name, code }) => ({
          name: inCode(name),
          code: inCode(code),
          HTTP: inCode(HTTP_STATUS_DEFAULTS[code]),
        })),
      ),
    );
    expect(rows).toHaveLength(errors.length);
  });

  it('show every diagnostics channel', () => {
    const documented = readme.table('channel').map(({ channel }) => channel);
    expect(documented).toEqual(CHANNELS.map((name) => inCode(name)));
  });

  it('show every metric with its unit', () => {
    const documented = readme.table('metric').map(({ metric, unit }) => ({ metric, unit }));
    expect(documented).toEqual(
      recordedMetrics().map(({ name, unit }) => ({ metric: inCode(name), unit: inCode(unit) })),
    );
  });

  function documentedDefaults(firstColumn: string): Record<string, string | undefined> {
    const rows = readme.table(firstColumn);
    return Object.fromEntries(rows.map((row) => [row[firstColumn]?.replaceAll('`', ''), row['default']]));
  }

  function defaultsOf(names: readonly string[], defaults: object): Record<string, string> {
    const values = new Map<string, unknown>(Object.entries(defaults));
    return Object.fromEntries(names.map((name) => [name, literal(values.get(name))]));
  }
});

describe.each(['README.md', 'CONTRIBUTING.md'])('%s', (file) => {
  const { anchors, commands, links } = new MarkdownDocument(join(root, file));

  it('has links within it that lead to a heading', () => {
    const within = links.filter((link) => link.startsWith('#'));
    expect(anchors).toEqual(expect.arrayContaining(within.map((link) => link.slice(1))));
  });

  it('has links to files that exist', () => {
    const files = links.filter((link) => !/^(?:#|https?:)/.test(link));
    expect(files.filter((link) => !existsSync(join(root, link)))).toEqual([]);
    expect(files).toContain('CHANGELOG.md');
  });

  it('names npm scripts that exist', () => {
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(commands));
    expect(commands).toContain('test');
  });
});

/** The metrics of the OpenTelemetry instrumentation, in the order in which it makes them. */
function recordedMetrics(): readonly { name: string; unit: string }[] {
  const made: { name: string; unit: string }[] = [];
  const make = (name: string, { unit = '' }: MetricOptions = {}): Instrument => {
    made.push({ name, unit });
    return { add: () => {}, record: () => {} };
  };
  const meter = { createHistogram: make, createCounter: make, createUpDownCounter: make };
  const metrics = new LockMetrics(
    () => ({ getMeter: () => meter as unknown as Meter }),
    () => false,
  );
  metrics.listeners['nest-redis-lock:lease:renewal']?.({ names: [], took: 0, lag: 0, answered: true });
  return made;
}

/** The names of options that a check knows, as it lists them when it is asked for one that nobody has. */
function knownOptions(check: (options: object) => unknown): readonly string[] {
  try {
    check({ 'no such option whatever': true });
  } catch (error) {
    const list = /Known here: (.*)\.$/.exec(error instanceof Error ? error.message : '')?.[1];
    if (list !== undefined) return list.split(', ');
  }
  throw new Error('The check did not say which options it knows.');
}

/** A default as the tables write it. */
function literal(value: unknown): string {
  if (value === undefined) return 'none';
  return inCode(inspect(value, { numericSeparator: true }));
}

function inCode(text: string | number): string {
  return `\`${text}\``;
}
