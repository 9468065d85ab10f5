// What the compiler must see in the declarations of the package: the types themselves, not `any` in their place.
import { Injectable } from '@nestjs/common';
import { CurrentLock, Locked, LockService, type Lock, type LockOptions } from 'nest-redis-lock';
import { LockTestingModule, MemoryLockServer } from 'nest-redis-lock/testing';

interface Item {
  readonly sku: string;
}

@Injectable()
export class Warehouse {
  constructor(private readonly locks: LockService) {}

  @Locked('stock:<0.sku>', { wait: 500, onTimeout: 'skip' })
  async take(item: Item, @CurrentLock() lock?: Lock): Promise<string | undefined> {
    return `${item.sku} ${lock?.fencingToken.toFixed()}`;
  }

  // @ts-expect-error Callers do not expect undefined.
  @Locked('stock:<0.sku>', { onTimeout: 'skip' })
  async look(item: Item): Promise<string> {
    return item.sku;
  }

  // @ts-expect-error There is no such path.
  @Locked('stock:<0.skuu>')
  async give(item: Item): Promise<string> {
    return item.sku;
  }

  async count(options: LockOptions): Promise<number> {
    await using lock = await this.locks.acquire('count', options);
    // @ts-expect-error A token is a number.
    const token: string = lock.fencingToken;
    return token.length;
  }
}

export const testing = LockTestingModule.forRoot({ server: new MemoryLockServer(), ttl: 1_000 });

// @ts-expect-error The locks are in memory.
LockTestingModule.forRoot({ connection: 'redis://127.0.0.1' });
