import { SystemClock } from '../../lib/primitives/clock.js';
import { LockEngine } from '../../lib/engine/lock-engine.js';
import { resolveModuleOptions } from '../../lib/options/module-options.js';
import type { AcquireRequest, LockStore } from '../../lib/store/lock-store.js';

/** A store that never answers, and keeps what it was asked. */
class SilentStore implements LockStore {
  readonly acquires: AcquireRequest[] = [];
  readonly released: string[] = [];
  readonly trouble = new Error('This store never answers.');

  open(): void {}
  wakesBy = (): 'message' => 'message';
  place = (): string => 'me|1000|1';
  acquire(request: AcquireRequest): Promise<never> {
    this.acquires.push(request);
    return new Promise(() => {});
  }
  release(_name: string, owner: string): Promise<never> {
    this.released.push(owner);
    return new Promise(() => {});
  }
  yield = (): Promise<never> => new Promise(() => {});
  extend = (): Promise<never> => new Promise(() => {});
  cancel = (): Promise<never> => new Promise(() => {});
  readonly operations = {
    query: (): Promise<never> => new Promise(() => {}),
    async *list(): AsyncGenerator<never> {},
    forceRelease: (): Promise<never> => new Promise(() => {}),
  };
  close = (): Promise<void> => Promise.resolve();
}

// A release may run later than the acquire sent after it, as after SCRIPT FLUSH when only its script is missing:
// were the grant taken up again, it would end a running hold.
it('a released grant is never adopted', async () => {
  const store = new SilentStore();
  const { defaults } = resolveModuleOptions({});
  const engine = new LockEngine({ name: 'me', store, clock: new SystemClock(), log: console });
  const grant = { owner: 'me:700', token: 700, tokens: 1 };

  engine.granted('job', [grant], 1_000);
  const refused = engine.acquire('job', defaults);

  expect(store.released).toEqual([grant.owner]);
  expect(store.acquires).toMatchObject([{ endedToken: grant.token }]);
  engine.rejectAcquires();
  await expect(refused).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
});
