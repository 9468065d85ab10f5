import { setTimeout as sleep } from 'node:timers/promises';
import { Test } from '@nestjs/testing';
import type { LockOptions } from '../../lib/options/lock-options.interface.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { earlierBuild } from '../bench/revision/earlier-build.js';
import { mayHoldTogether, type Wanted } from '../support/may-hold-together.js';
import { RedisServer } from '../support/redis-server.js';
import { LockServices } from './support/lock-services.js';
import { SeededRandom } from './support/seeded-random.js';

/** The last revision whose shared holds were asked of Redis and given back to it one by one. */
const BEFORE = '9e6ed6f';
const SECONDS = 5;

/** What callers of one name want: alone, beside any others, beside at most two. */
const WANTED: [LockOptions, ...LockOptions[]] = [{}, { mode: 'shared' }, { mode: 'shared', limit: 3 }];

describe(`While instances of this version run beside those of ${BEFORE}`, () => {
  let server: RedisServer;
  const closing: (() => Promise<unknown>)[] = [];
  const here = new LockServices();

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(async () => {
    await Promise.all(closing.map((close) => close()));
    await here[Symbol.asyncDispose]();
    await server.stop();
  });

  const openBefore = async (): Promise<LockService> => {
    const { LockService: Service, RedisLockModule } = (await import(
      earlierBuild(BEFORE)
    )) as typeof import('../../lib/index.js');
    const imports = [RedisLockModule.forRoot({ connection: server.url })];
    const module = await Test.createTestingModule({ imports }).compile();
    closing.push(() => module.close());
    return module.get(Service);
  };

  it.each<[string, (random: SeededRandom) => number, [LockOptions, ...LockOptions[]]]>([
    ['readers, writers and permits', (random) => random.between(-1, 2), WANTED],
    ['permits without work', () => 0, [{ mode: 'shared', limit: 3 }]],
    ['readers and writers without work', () => 0, [{}, { mode: 'shared' }]],
  ])('%s exclude each other, are all served, and have growing tokens', async (name, work, wanted) => {
    const services = [
      ...(await Promise.all([openBefore(), openBefore()])),
      ...[1, 2].map(() => here.open({ connection: server.url })),
    ];
    const random = new SeededRandom(20_261_122);
    const inside = new Set<Wanted>();
    const problems: string[] = [];
    const tokens = new Set<number>();
    let highest = 0;
    const end = performance.now() + SECONDS * 1_000;
    const call = async (service: LockService): Promise<number> => {
      let holds = 0;
      while (performance.now() < end) {
        const options = { ...random.pick(wanted), wait: 10_000 };
        const lock = await service.acquire(name, options);
        const caller = { limit: options.mode === 'shared' ? (options.limit ?? Infinity) : undefined };
        inside.add(caller);
        if (!mayHoldTogether([...inside]))
          problems.push(`together: ${[...inside].map(({ limit }) => limit ?? 'alone').join()}`);
        if (tokens.has(lock.fencingToken)) problems.push(`token ${lock.fencingToken} a second time`);
        if (options.mode === undefined && lock.fencingToken < highest) problems.push('a token that is lower');
        tokens.add(lock.fencingToken);
        highest = Math.max(highest, lock.fencingToken);
        const pause = work(random);
        if (pause > 0) await sleep(pause);
        holds++;
        inside.delete(caller);
        await lock.release();
      }
      return holds;
    };
    const callers = services.flatMap((service) => Array.from({ length: 10 }, () => service));
    const served = await Promise.all(callers.map(call));

    expect(problems).toEqual([]);
    expect(Math.min(...served)).toBeGreaterThan(2);
  });
});
