import { describe, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { CurrentLock, Locked, LockService, type Lock } from 'nest-redis-lock';
import { LockTestingModule, MemoryLockServer } from 'nest-redis-lock/testing';

@Injectable()
class StockService {
  left = 1;

  @Locked('stock:<0>')
  async take(_sku: string, @CurrentLock() lock?: Lock): Promise<number | undefined> {
    const { left } = this;
    await Promise.resolve();
    this.left = left - 1;
    return lock?.fencingToken;
  }
}

async function replica(server?: MemoryLockServer): Promise<TestingModule> {
  const module = await Test.createTestingModule({
    imports: [LockTestingModule.forRoot({ server })],
    providers: [StockService],
  }).compile();
  return module.init();
}

describe('a service with a locked method', () => {
  it('is tested without Redis', async () => {
    const module = await replica();
    const stock = module.get(StockService);
    const tokens = await Promise.all([stock.take('book'), stock.take('book')]);
    expect(stock.left).toBe(-1);
    expect(Number(tokens[1])).toBeGreaterThan(Number(tokens[0]));
    await module.close();
  });

  it('is tested as several replicas, with fake timers', async () => {
    jest.useFakeTimers();
    const server = new MemoryLockServer();
    const [one, two] = [await replica(server), await replica(server)];
    await one.get(LockService).acquire('stock:book');
    await Promise.all([
      expect(two.get(StockService).take('book')).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' }),
      jest.advanceTimersByTimeAsync(10_000),
    ]);
    jest.useRealTimers();
  });
});
