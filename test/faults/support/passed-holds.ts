import { isLockError } from '../../../lib/errors/lock.error.js';
import type { Lock, LockService } from '../../../lib/index.js';
import type { FencedResourceClient } from './fenced-resource.client.js';
import type { HoldObserver } from './hold-observer.js';
import { now } from './shared-clock.js';

/** What became of an attempt: its result, or the code of the error. */
export type Outcome<T> = { readonly result: T } | { readonly code: string };

interface KeptHold {
  readonly lock: Lock;
  readonly name: string;
  readonly observation: { end(): void };
}

/** Holds of one process that came from, or go to, another one. A hold keeps its id on its way. */
export class PassedHolds {
  private readonly holds = new Map<string, KeptHold>();

  constructor(
    private readonly service: LockService,
    private readonly observer: HoldObserver,
    private readonly resource: FencedResourceClient,
  ) {}

  acquire(id: string, name: string): Promise<Outcome<void>> {
    return outcomeOf(async () => this.keep(id, name, await this.service.acquire(name)));
  }

  attach(id: string, name: string, transfer: string): Promise<Outcome<void>> {
    return outcomeOf(async () => this.keep(id, name, await this.service.attach(transfer)));
  }

  /** Lets go of a hold; it is kept, or lost, where that fails. */
  detach(id: string): Promise<Outcome<string>> {
    return outcomeOf(async () => {
      const { lock, name, observation } = this.of(id);
      await this.resource.write(name, lock.fencingToken, id);
      // Before: what it looks like on its way is not that of a hold.
      observation.end();
      const detaching = lock.detach();
      this.holds.delete(id);
      try {
        return await detaching;
      } catch (error) {
        this.keep(id, name, lock);
        throw error;
      }
    });
  }

  /** Releases a hold, if it is here. */
  async release(id: string): Promise<void> {
    const hold = this.holds.get(id);
    if (!hold) return;
    hold.observation.end();
    this.holds.delete(id);
    await hold.lock.release();
  }

  async releaseAll(): Promise<void> {
    await Promise.all([...this.holds.keys()].map((id) => this.release(id)));
  }

  private keep(id: string, name: string, lock: Lock): void {
    this.holds.set(id, { lock, name, observation: this.observer.begin(id, lock, now()) });
  }

  private of(id: string): KeptHold {
    const hold = this.holds.get(id);
    if (!hold) throw new Error(`There is no hold ${id} here`);
    return hold;
  }
}

async function outcomeOf<T>(attempt: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { result: await attempt() };
  } catch (error) {
    if (isLockError(error)) return { code: error.code };
    throw error;
  }
}
