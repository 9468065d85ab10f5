import assert from 'node:assert/strict';
import type { CombinedLock } from '../../../lib/engine/hold/combined-lock.js';
import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { LOCK_OPTION_DEFAULTS, resolveLockOptions } from '../../../lib/options/lock-options.js';
import { SeveralNames } from '../../../lib/service/acquire/several-names.js';
import { SingleName } from '../../../lib/service/acquire/single-name.js';
import { LockContext } from '../../../lib/service/reentrance/lock-context.js';
import type { Grant, Taken } from '../../../lib/store/grant.js';
import { EngineFixture } from '../engine/engine-fixture.js';
import { type StoreCall, taken } from '../engine/scripted-store.js';

/** Calls for several names on a clock and a store that a test drives. */
export class SeveralNamesFixture extends EngineFixture {
  acquireAll(options: LockOptions = {}, names = ['a', 'b', 'c', 'd']): Promise<CombinedLock> {
    return new SeveralNames(
      names,
      resolveLockOptions(LOCK_OPTION_DEFAULTS, options),
      new SingleName(this.engine, new LockContext()),
    ).acquire();
  }

  /** The requests of a trip, which have to be under way together. */
  async trip(...names: string[]): Promise<StoreCall<'acquire'>[]> {
    const [first, ...more] = names.map(() => this.store.next('acquire'));
    const calls = [await first, ...(await Promise.all(more))].filter((call) => call !== undefined);
    const requested = calls.map(({ request }) => request.name);
    assert.deepEqual(requested, names);
    assert.equal(this.store.unseen('acquire'), 0);
    return calls;
  }

  async answer(calls: StoreCall<'acquire'>[], replies: readonly (Grant | Taken)[]): Promise<void> {
    await Promise.all(calls.map((call, i) => call.answer(replies[i] ?? taken(50))));
  }

  async released(count: number): Promise<string[]> {
    const calls = await Promise.all(Array.from({ length: count }, () => this.store.next('release')));
    await Promise.all(calls.map((call) => call.answer(true)));
    assert.equal(this.store.unseen('release'), 0);
    return calls.map(({ request }) => request.name).toSorted();
  }
}
