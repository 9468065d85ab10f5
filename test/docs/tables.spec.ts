import { status } from '@grpc/grpc-js';
import { seededFaults } from '../conformance/seeded-faults.js';
import { ERROR_REPLIES } from '../../lib/errors/error-replies.js';
import { resolveLeadOptions } from '../../lib/options/lead-options.js';
import { LOCK_OPTION_DEFAULTS, resolveLockOptions } from '../../lib/options/lock-options.js';
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
    const statuses = Object.entries(ERROR_REPLIES).map(([code, { grpc }]) => [code, status[grpc], grpc]);
    expect(rows).toEqual(statuses.map(([code, name, number]) => [`\`${code}\``, `\`${name}\``, `${number}`]));
  });

  it('leave out the options of an acquire that a campaign does not take', () => {
    const acquire = knownOptions((options) => resolveLockOptions(LOCK_OPTION_DEFAULTS, options));
    const known = knownOptions((options) => resolveLeadOptions(options));
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
});

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

function inCode(text: string | number): string {
  return `\`${text}\``;
}
