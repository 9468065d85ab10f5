import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { defer } from 'rxjs';
import { Locked, LockConfigError, LockService } from '../../../lib/index.js';
import { LockTestingModule } from '../../../lib/testing/index.js';
import { unreadable } from '../../support/unreadable.js';

let begun = 0;

function begin(): number {
  begun += 1;
  return begun;
}

/** Results that run only when they are read. */
const LATE: [kind: string, make: () => unknown][] = [
  ['an Observable', () => defer(async () => begin())],
  [
    'a generator',
    function* () {
      yield begin();
    },
  ],
  [
    'a generator',
    async function* () {
      yield begin();
    },
  ],
];

@Injectable()
class Work {
  constructor(private readonly locks: LockService) {}

  make: () => unknown = () => undefined;

  @Locked('late')
  async locked(): Promise<unknown> {
    return this.make();
  }

  using(): Promise<unknown> {
    return this.locks.using('late', async () => this.make());
  }

  usingAtOnce(): Promise<unknown> {
    return this.locks.using(['late', 'other'], () => this.make());
  }

  async lead(): Promise<void> {
    const end = new AbortController();
    const onError = (error: unknown): never => {
      throw error;
    };
    await this.locks.lead('late', () => this.make(), { onError, signal: end.signal });
  }
}

describe('Work whose result would run after the release', () => {
  const start = async () => {
    const module = await Test.createTestingModule({
      imports: [LockTestingModule.forRoot()],
      providers: [Work],
    }).compile();
    return module.init();
  };
  let module: Awaited<ReturnType<typeof start>>;

  beforeEach(async () => {
    module = await start();
    begun = 0;
  });
  afterEach(() => module.close());

  const calls = ['locked', 'using', 'usingAtOnce', 'lead'] as const;
  const cases = calls
    .flatMap((call) => LATE.map(([kind, make]) => [call, kind, make] as const))
    // The Promise of a locked method may resolve to an Observable, which keeps the lock.
    .filter(([call, kind]) => call !== 'locked' || kind !== 'an Observable');

  it.each(cases)('is rejected: %s that returns %s', async (call, kind, make) => {
    const work = module.get(Work);
    work.make = make;
    const running = work[call]();
    await expect(running).rejects.toThrow(LockConfigError);
    await expect(running).rejects.toThrow(`returned ${kind}, which runs only when it is read`);
    expect(begun).toBe(0);
    expect(module.get(LockService).holds()).toEqual([]);
  });

  it.each([
    ['an iterable that is no generator', () => ['a']],
    ['a value that cannot be read', () => Object.defineProperty({}, 'subscribe', { get: unreadable })],
  ])('is none of: %s', async (_kind, make) => {
    const work = module.get(Work);
    work.make = make;
    for (const call of ['locked', 'using', 'usingAtOnce'] as const) expect(await work[call]()).toBeDefined();
  });
});
