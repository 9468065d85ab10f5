import { HealthIndicatorService, TerminusModule } from '@nestjs/terminus';
import { Test } from '@nestjs/testing';
import { LockService, LockUnavailableError } from '../../../lib/index.js';
import type { StoreHealth } from '../../../lib/store/health-check.js';
import { LockHealthIndicator } from '../../../lib/terminus/index.js';
import { LockTestingModule } from '../../../lib/testing/index.js';

const HEALTHY: StoreHealth = { responseTime: 1.2, trouble: undefined, nodes: undefined };

describe('The health indicator', () => {
  async function indicatorOver(health: StoreHealth, withoutDegraded = false): Promise<LockHealthIndicator> {
    let builder = Test.createTestingModule({
      imports: [TerminusModule, LockTestingModule.forRoot()],
      providers: [LockHealthIndicator],
    })
      .overrideProvider(LockService)
      .useValue({ checkHealth: async () => health });
    // As terminus 11 has it.
    if (withoutDegraded) builder = builder.overrideProvider(HealthIndicatorService).useValue(terminus11);
    return (await builder.compile()).get(LockHealthIndicator);
  }

  const terminus11 = {
    check: (key: string) => ({
      up: (found: object) => ({ [key]: { status: 'up', ...found } }),
      down: (found: object) => ({ [key]: { status: 'down', ...found } }),
    }),
  };

  const nodes = [
    { name: 'a:6379', trouble: undefined },
    { name: 'b:6379', trouble: undefined },
    { name: 'c:6379', trouble: 'connect ECONNREFUSED' },
  ];

  const silent = { 'c:6379': 'connect ECONNREFUSED' };
  it.each([
    ['up with the time that it took', undefined, { status: 'up', responseTime: 2 }],
    [
      'up with the number of nodes that answer, when all do',
      nodes.slice(0, 2),
      { status: 'up', responseTime: 2, nodes: 2, answering: 2, silent: {} },
    ],
    [
      'degraded while a majority grants locks and a node does not answer',
      nodes,
      { status: 'degraded', responseTime: 2, nodes: 3, answering: 2, silent },
    ],
  ])('is %s', async (_what, nodesOfStore, locks) => {
    const indicator = await indicatorOver({ ...HEALTHY, nodes: nodesOfStore });

    expect(await indicator.isHealthy('locks')).toEqual({ locks });
  });

  it('is up instead of degraded with a terminus that lacks degraded', async () => {
    const indicator = await indicatorOver({ ...HEALTHY, nodes }, true);

    expect(await indicator.isHealthy('locks')).toMatchObject({ locks: { status: 'up', answering: 2 } });
  });

  it('is down with the reason and the nodes, when no lock is granted', async () => {
    const trouble = new LockUnavailableError('no majority');
    const indicator = await indicatorOver({ ...HEALTHY, trouble, nodes });

    expect(await indicator.isHealthy('locks')).toMatchObject({
      locks: { status: 'down', message: 'no majority', nodes: 3, answering: 2 },
    });
  });

  it('also checks a store in memory', async () => {
    const module = await Test.createTestingModule({
      imports: [TerminusModule, LockTestingModule.forRoot()],
      providers: [LockHealthIndicator],
    }).compile();

    expect(await module.get(LockHealthIndicator).isHealthy('locks')).toMatchObject({
      locks: { status: 'up' },
    });
    await module.close();
  });

  it('names a missing module, and explains a wrong option', async () => {
    const indicator = await indicatorOver(HEALTHY);

    await expect(indicator.isHealthy('locks', { module: 'reports' })).rejects.toThrow(
      "Import the RedisLockModule named 'reports'",
    );
    await expect(indicator.isHealthy('locks', { timeout: 0 })).rejects.toThrow('timeout must be');
    await expect(indicator.isHealthy('locks', { timeot: 5 } as object)).rejects.toThrow(
      'Did you mean timeout',
    );
  });
});
