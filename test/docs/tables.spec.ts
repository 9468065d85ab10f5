import { status } from '@grpc/grpc-js';
import type { Counter, Histogram, Meter, MetricOptions, Observable } from '@opentelemetry/api';
import { inspect } from 'node:util';
import { seededFaults } from '../conformance/seeded-faults.js';
import { assertLockedOptions } from '../../lib/nest/locked/locked-options.js';
import { GRPC_STATUSES } from '../../lib/nest/exceptions/grpc-error.js';
import { resolveLeadOptions } from '../../lib/options/lead-options.js';
import { LOCK_OPTION_DEFAULTS, resolveLockOptions } from '../../lib/options/lock-options.js';
import { resolveModuleOptions } from '../../lib/options/module-options.js';
import { LockMetrics } from '../../lib/opentelemetry/lock-metrics.js';
import {
  LEAST_CLUSTER_RIGHTS,
  LEAST_RIGHTS,
  LIST_RIGHT,
  READY_CHECK_RIGHT,
} from '../scripts/least-rights.js';
import {
  oneRedisFaults,
  refusalFaults,
  severalNamesFaults,
} from '../simulation/deliberate-faults/one-redis.faults.js';
import { onceFaults } from '../simulation/deliberate-faults/once.faults.js';
import { quorumFaults } from '../simulation/deliberate-faults/quorum.faults.js';
import { CHANNELS } from '../support/lock-events.js';
import { documentOf, tableOf } from './documents.js';

type Instrument = Counter & Histogram & Observable;

const rights = documentOf('docs/operate/rights-and-keys.md');

it('The page on rights lists the rights that are enough, and no others', () => {
  const line = rights.blocks.find(({ text }) => text.startsWith('user locks '))?.text ?? '';
  const listed = line.split(' ').filter((word) => /^[~&+]/.test(word));
  expect(new Set(listed)).toEqual(new Set([...LEAST_RIGHTS, READY_CHECK_RIGHT]));
});

it('The page on rights lists the further rights that are enough on a Cluster, and no others', () => {
  const line = rights.blocks.find(({ text }) => text.startsWith('&lock:{*}'))?.text ?? '';
  const further = LEAST_CLUSTER_RIGHTS.filter((right) => !LEAST_RIGHTS.includes(right));
  expect(new Set(line.trim().split(' '))).toEqual(new Set(further));
});

it('The page on rights names the right that a list needs beside', () => {
  expect(rights.lines.join('\n')).toContain(`\`${LIST_RIGHT}\``);
});

describe('the tables of the pages', () => {
  it('show every deliberate fault', () => {
    const all = [...oneRedisFaults, ...refusalFaults, ...severalNamesFaults, ...onceFaults, ...quorumFaults];
    const faults = all.map(({ fault }) => fault);
    const places = [
      'on one Redis',
      'after a refused request',
      'in calls for several names',
      'in calls of once()',
      'on a quorum',
    ];
    const rows = places.flatMap((where) => tableOf(`deliberate fault ${where}`));
    expect(rows.map((row) => Object.values(row)[0])).toEqual(faults);
  });

  it('count the deliberate faults in scripts', () => {
    const page = documentOf('docs/how-it-works/verification.md').lines.join('\n');
    expect(page).toContain(`${seededFaults.length} deliberate faults in scripts`);
  });

  it('show the gRPC status of every lock error', () => {
    const rows = tableOf('lock error').map((row) => [row['lock error'], row['status'], row['number']]);
    const statuses = Object.entries(GRPC_STATUSES).map(([code, number]) => [code, status[number], number]);
    expect(rows).toEqual(statuses.map(([code, name, number]) => [`\`${code}\``, `\`${name}\``, `${number}`]));
  });

  it('show the options of the module with their defaults, except the options of an acquire', () => {
    const acquire = knownOptions((options) => resolveLockOptions(LOCK_OPTION_DEFAULTS, options));
    const known = knownOptions(resolveModuleOptions).filter((name) => !acquire.includes(name));
    expect(documentedDefaults('option of the module')).toEqual({
      ...defaultsOf(known, { ...resolveModuleOptions({}), http: undefined, presets: undefined }),
      http: 'statuses',
    });
  });

  it('show the advanced options with their defaults', () => {
    const known = knownOptions((advanced) => resolveModuleOptions({ advanced })).map((name) =>
      name.replace('advanced.', ''),
    );
    expect(documentedDefaults('advanced option')).toEqual(defaultsOf(known, resolveModuleOptions({})));
  });

  it('show the options of the decorator besides those of an acquire', () => {
    const acquire = knownOptions((options) => resolveLockOptions(LOCK_OPTION_DEFAULTS, options));
    const known = knownOptions(assertLockedOptions).filter((name) => !acquire.includes(name));
    expect(Object.keys(documentedDefaults('option of the decorator')).toSorted()).toEqual(known.toSorted());
  });

  it('show the options of a campaign with their defaults, except the options of an acquire', () => {
    const acquire = knownOptions((options) => resolveLockOptions(LOCK_OPTION_DEFAULTS, options));
    const known = knownOptions((options) => resolveLeadOptions(options));
    const own = known.filter((name) => name === 'signal' || !acquire.includes(name));
    const { pause, onError, signal } = resolveLeadOptions({});
    expect(documentedDefaults('option of a campaign')).toEqual(defaultsOf(own, { pause, onError, signal }));
    expect(acquire.filter((name) => !known.includes(name)).toSorted()).toEqual([
      'limit',
      'mode',
      'outageTimeout',
      'permits',
      'reentrant',
      'wait',
    ]);
  });

  it('show every diagnostics channel', () => {
    const documented = tableOf('channel').map(({ channel }) => channel);
    expect(documented).toEqual(CHANNELS.map((name) => inCode(name)));
  });

  it('show every metric with its unit', () => {
    const documented = tableOf('metric').map(({ metric, unit }) => ({ metric, unit }));
    expect(documented).toEqual(
      recordedMetrics().map(({ name, unit }) => ({ metric: inCode(name), unit: inCode(unit) })),
    );
  });

  function documentedDefaults(firstColumn: string): Record<string, string | undefined> {
    const rows = tableOf(firstColumn);
    return Object.fromEntries(rows.map((row) => [row[firstColumn]?.replaceAll('`', ''), row['default']]));
  }

  function defaultsOf(names: readonly string[], defaults: object): Record<string, string> {
    const values = new Map<string, unknown>(Object.entries(defaults));
    return Object.fromEntries(names.map((name) => [name, literal(values.get(name))]));
  }
});

/** The metrics of the OpenTelemetry instrumentation, in the order in which it makes them. */
function recordedMetrics(): readonly { name: string; unit: string }[] {
  const made: { name: string; unit: string }[] = [];
  const make = (name: string, { unit = '' }: MetricOptions = {}): Instrument => {
    made.push({ name, unit });
    return { add: () => {}, record: () => {}, addCallback: () => {}, removeCallback: () => {} };
  };
  const meter = {
    createHistogram: make,
    createCounter: make,
    createUpDownCounter: make,
    createObservableUpDownCounter: make,
    createObservableGauge: make,
    addBatchObservableCallback: () => {},
  };
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
