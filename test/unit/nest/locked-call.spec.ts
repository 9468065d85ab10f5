import { Injectable, Logger } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { CurrentLock, Locked, LockKeyError, LockService, type Lock } from '../../../lib/index.js';
import { LockTestingModule } from '../../../lib/testing/index.js';

interface Order {
  readonly customer: string;
  readonly items: readonly { readonly sku: string }[];
}

const orderOf = (customer: string, ...skus: string[]): Order => ({
  customer,
  items: skus.map((sku) => ({ sku })),
});

@Injectable()
class Jobs {
  @Locked('job')
  async fail(): Promise<void> {
    throw new Error('the job failed');
  }

  @Locked('job')
  async finish(): Promise<string> {
    return 'done';
  }

  @Locked('job:<0>', { onTimeout: 'skip' })
  async skip(_id: string): Promise<string | undefined> {
    return 'done';
  }

  @Locked(['stock:<0.items[].sku>', 'customer:<0.customer>'])
  async several(_order: Order, @CurrentLock() lock?: Lock): Promise<readonly string[] | undefined> {
    return lock?.keys;
  }
}

async function start(): Promise<TestingModule> {
  const module = await Test.createTestingModule({
    imports: [LockTestingModule.forRoot()],
    providers: [Jobs],
  }).compile();
  return module.init();
}

describe('A call of a locked method outside of a request', () => {
  let module: TestingModule;
  let jobs: Jobs;
  let release: jest.Mock<Promise<void>, []>;
  /** Ends the holds that a test has not released, because the shutdown waits for them. */
  const releases: (() => Promise<void>)[] = [];
  const stray: unknown[] = [];
  const note = (reason: unknown): void => void stray.push(reason);

  beforeEach(async () => {
    module = await start();
    jobs = module.get(Jobs);
    const locks = module.get(LockService);
    const acquire = locks.acquire.bind(locks);
    jest.spyOn(locks, 'acquire').mockImplementation(async (...args): Promise<Lock> => {
      const lock = await acquire(...args);
      releases.push(lock.release.bind(lock));
      return Object.defineProperty(lock, 'release', { value: release });
    });
    process.on('unhandledRejection', note);
  });
  afterEach(async () => {
    process.off('unhandledRejection', note);
    jest.restoreAllMocks();
    stray.length = 0;
    await Promise.all(releases.splice(0).map((end) => end()));
    await module.close();
  });

  it.each([
    ['error', 'fail'],
    ['result', 'finish'],
  ] as const)('gives its %s to the caller after the release', async (_what, method) => {
    const order: string[] = [];
    let finishRelease = (): void => undefined;
    const released = new Promise<void>((resolve) => (finishRelease = resolve));
    release = jest.fn(async () => {
      order.push('releasing');
      await released;
      order.push('released');
    });
    const call = jobs[method]().then(
      () => order.push('result'),
      () => order.push('error'),
    );
    await settled();
    expect(order).toEqual(['releasing']);

    finishRelease();
    await call;
    expect(order).toEqual(['releasing', 'released', method === 'fail' ? 'error' : 'result']);
  });

  it.each([
    ['error', 'fail', { status: 'rejected', reason: new Error('the job failed') }],
    ['result', 'finish', { status: 'fulfilled', value: 'done' }],
  ] as const)('keeps its %s when the release rejects, and logs that', async (_what, method, outcome) => {
    const warn = jest.spyOn(Logger, 'warn').mockReturnValue();
    release = jest.fn(() => Promise.reject(new Error('Redis does not answer')));

    expect(await Promise.allSettled([jobs[method]()])).toEqual([outcome]);
    await settled();
    expect(stray).toEqual([]);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('Redis does not answer'), expect.anything());
  });

  it('keeps its result when the release rejects with a value without text', async () => {
    const warn = jest.spyOn(Logger, 'warn').mockReturnValue();
    release = jest.fn(() => Promise.reject(Object.create(null) as Error));

    expect(await jobs.finish()).toBe('done');
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('a value without text'), expect.anything());
  });
});

describe('The names of a locked method', () => {
  let module: TestingModule;
  let jobs: Jobs;

  beforeEach(async () => {
    module = await start();
    jobs = module.get(Jobs);
  });
  afterEach(() => module.close());

  it('are rejected with LockKeyError if one is invalid, whatever onTimeout says', async () => {
    await expect(jobs.skip('')).rejects.toThrow(LockKeyError);
  });

  it('are at most 256, as an error with the name of the method says', async () => {
    const order = orderOf('ann', ...Array.from({ length: 256 }, (_, i) => `sku-${i}`));
    await expect(jobs.several(order)).rejects.toThrow(
      'Jobs.several names 257 locks, and one call takes at most 256.',
    );
  });

  it('are one for each element, and those of the other templates', async () => {
    expect(await jobs.several(orderOf('ann', 'pen', 'book', 'pen'))).toEqual([
      'customer:ann',
      'stock:book',
      'stock:pen',
    ]);
  });
});

/** Every promise that can settle without time passing has done so, and unhandled rejections are known. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => void setImmediate(resolve));
}
