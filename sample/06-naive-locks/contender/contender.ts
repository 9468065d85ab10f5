import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { LockService } from 'nest-redis-lock';
import type { ContestedLock } from '../locks/contested-lock.js';
import { IncrDelLock } from '../locks/incr-del.lock.js';
import type { LockKind } from '../locks/lock-kind.js';
import { ServiceLock } from '../locks/service.lock.js';
import { SetNxExLock } from '../locks/set-nx-ex.lock.js';
import { SetnxDelLock } from '../locks/setnx-del.lock.js';
import { SetnxExpireLock } from '../locks/setnx-expire.lock.js';
import { RedisClients } from './redis-clients.js';

/** Somebody who wants locks: one process of the contest. */
@Injectable()
export class Contender implements OnApplicationBootstrap {
  private readonly acquired = new Map<string, ContestedLock>();

  constructor(
    private readonly clients: RedisClients,
    private readonly locks: LockService,
  ) {}

  /** So that the first command of the contest is that which acquires, and not one that loads a script. */
  async onApplicationBootstrap(): Promise<void> {
    await this.locks.using(`warm-up:${process.pid}`, async () => {});
  }

  /** One attempt. */
  async tryAcquire(kind: LockKind, name: string): Promise<boolean> {
    const lock = this.lock(kind, name);
    const got = await lock.tryAcquire();
    if (got) this.acquired.set(name, lock);
    return got;
  }

  /** Comes as far as the first command does, which is answered: where there is a second one, it is not sent. */
  async tryAcquireWithOneCommand(kind: LockKind, name: string): Promise<void> {
    const client = this.clients.of(kind);
    client.haltAfter(1);
    await Promise.race([client.halted(), this.tryAcquire(kind, name)]);
  }

  /** Whether it would go on with its work. A naive lock cannot tell: its holder believes what it was told once. */
  believesToHold(name: string): boolean {
    const lock = this.acquired.get(name);
    return lock instanceof ServiceLock ? lock.held : lock !== undefined;
  }

  async release(name: string): Promise<void> {
    await this.acquired.get(name)?.release();
    this.acquired.delete(name);
  }

  private lock(kind: LockKind, name: string): ContestedLock {
    const client = this.clients.of(kind);
    const leaseSeconds = Number(process.env.LEASE_SECONDS);
    const make: Readonly<Record<LockKind, () => ContestedLock>> = {
      'INCR, DEL': () => new IncrDelLock(client, name),
      'SETNX, DEL': () => new SetnxDelLock(client, name),
      'SETNX, EXPIRE, DEL': () => new SetnxExpireLock(client, name, leaseSeconds),
      'SET NX EX, DEL': () => new SetNxExLock(client, name, leaseSeconds),
      'nest-redis-lock': () => new ServiceLock(this.locks, name),
    };
    return make[kind]();
  }
}
