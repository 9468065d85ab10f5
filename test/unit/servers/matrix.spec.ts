import { eachServer, wholeMatrix } from '../../servers/combinations.mjs';
import { namedServer, othersThanHere, provideServers, SOURCES } from '../../servers/servers.mjs';
import { resultsIn } from '../../servers/suite-results.mjs';
import { RUNS } from '../../servers/suites.mjs';
import type { System } from '../../../tools/setup/system.mjs';

const passed = { fullName: 'A lock is granted', status: 'passed', failureMessages: [''] };
const failed = { fullName: 'A lock is released', status: 'failed', failureMessages: ['Error: not so'] };
const file = (path: string, assertionResults: (typeof passed)[], message = '') => ({
  name: `/clone/${path}`,
  status: assertionResults.every(({ status }) => status === 'passed') && message === '' ? 'passed' : 'failed',
  message,
  assertionResults,
});

describe('The report of a run', () => {
  it('is reported suite by suite, quorums apart from the other topologies', () => {
    const testResults = [
      file('test/redis/order.spec.ts', [passed, passed]),
      file('test/topology/cluster/locks.spec.ts', [passed]),
      file('test/topology/quorum/subsets.spec.ts', [passed, failed]),
    ];

    expect(resultsIn(['engine', 'topology', 'quorum'], { testResults })).toEqual([
      { suite: 'engine', passed: 2, failures: [] },
      { suite: 'topology', passed: 1, failures: [] },
      { suite: 'quorum', passed: 1, failures: [{ name: 'A lock is released', message: 'Error: not so' }] },
    ]);
  });

  it('counts a file that could not be loaded as a failure', () => {
    const testResults = [file('test/scripts/scripts.spec.ts', [], 'Cannot find module')];

    expect(resultsIn(['scripts'], { testResults })).toEqual([
      {
        suite: 'scripts',
        passed: 0,
        failures: [{ name: '/clone/test/scripts/scripts.spec.ts', message: 'Cannot find module' }],
      },
    ]);
  });
});

it('A suite of which no test ran has failed', () => {
  const testResults = [file('test/redis/order.spec.ts', [passed])];

  expect(resultsIn(['engine', 'faults'], { testResults })).toMatchObject([
    { suite: 'engine', failures: [] },
    { suite: 'faults', failures: [{ message: 'No test of it ran' }] },
  ]);
});

describe('The combinations', () => {
  const servers = SOURCES.map(({ id }) => ({ id, name: `Server ${id}`, program: `/opt/${id}` }));

  it('are each server alone, and mixtures of them', () => {
    const all = wholeMatrix(servers);

    expect(all).not.toContainEqual(expect.objectContaining({ missing: expect.anything() as unknown }));
    expect(all.slice(servers.length)).toMatchObject([
      { name: 'Cluster of Server valkey-8.1, Server valkey-9.1' },
      { env: { REDIS_SERVER: '/opt/valkey-9.1', REDIS_SENTINEL: '/opt/redis-8.0' } },
      { env: { REDIS_SERVER: expect.stringContaining('/opt/redis-7.0') as string } },
    ]);
  });

  it('name each unavailable server, and each mixture without it', () => {
    const without = servers.map((server) =>
      server.id === 'redis-8.0' ? { id: server.id, name: server.id, missing: 'gone' } : server,
    );
    const missing = wholeMatrix(without).filter((each) => 'missing' in each);

    expect(missing.map(({ name }) => name)).toEqual([
      'redis-8.0',
      'Sentinel of redis-8.0 over Server valkey-9.1',
      expect.stringMatching(/^Quorum of/),
    ]);
    expect(eachServer(without, [RUNS.short])).toContainEqual({
      id: 'redis-8.0',
      name: 'redis-8.0',
      missing: 'gone',
    });
  });
});

describe('The servers of a machine', () => {
  const nothing: System = {
    env: {},
    isRoot: false,
    run: () => false,
    read: () => undefined,
    link: () => {},
    say: () => {},
  };

  it('are all reported as missing if none is available', () => {
    expect(provideServers('/nowhere', nothing)).toEqual(
      SOURCES.map(({ id }) => ({ id, name: id, missing: 'apt here knows no archive of Debian' })),
    );
  });

  it.each([
    ['Redis server v=7.0.15 sha=00000000:0', ['redis-8.0', 'redis-8.6', 'valkey-8.1', 'valkey-9.1']],
    ['Valkey server v=9.1.2 sha=00000000:0', ['redis-7.0', 'redis-8.0', 'redis-8.6', 'valkey-8.1']],
    ['Redis server v=7.2.4 sha=00000000:0', SOURCES.map(({ id }) => id)],
    [undefined, SOURCES.map(({ id }) => id)],
  ])('are tried in short but for the release that all other tests run on: %s', (said, others) => {
    const asked: string[] = [];
    const system = {
      ...nothing,
      env: { REDIS_SERVER: '/opt/server' },
      read: (program: string) => (asked.push(program), said),
    };

    expect(othersThanHere(system).map(({ id }) => id)).toEqual(others);
    expect(asked).toEqual(['/opt/server']);
  });

  it('have the name that the program says of itself', () => {
    const system = { ...nothing, read: () => 'Valkey server v=8.1.4 sha=00000000:0 malloc=libc bits=64' };
    expect(namedServer('/opt/valkey-server', system)).toMatchObject({ name: 'Valkey 8.1.4' });
    expect(namedServer('/opt/missing', nothing)).toMatchObject({
      missing: '/opt/missing does not say its version',
    });
  });
});
