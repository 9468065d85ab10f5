import type { Lock, LockOptions, LockService } from '../../lib/index.js';
import type { LockModuleOptions } from '../../lib/options/module-options.interface.js';
import { waitFor } from '../support/wait-for.js';
import { GatedStore } from './gated-store.js';
import { Instance } from './instance.js';

export const READ = { mode: 'shared' } as const;

/** So much that what is passed on in memory is so however busy the machine is, and nobody gives up. */
const PATIENCE = { handoff: { window: 60_000 }, ttl: 60_000, wait: 60_000, outageTimeout: 60_000 };

/** An instance whose requests a test can hold up and count. */
export class GatedInstance extends Instance {
  readonly gate: GatedStore;

  constructor(options: LockModuleOptions) {
    const gates: GatedStore[] = [];
    const wrap = (...[store]: ConstructorParameters<typeof GatedStore>): GatedStore => {
      const gate = new GatedStore(store);
      gates.push(gate);
      return gate;
    };
    super({ ...PATIENCE, ...options, wrap });
    const [gate] = gates;
    if (!gate) throw new Error('The store was not wrapped.');
    this.gate = gate;
  }
}

/** A writer, and what comes behind it in its instance: a reader there gets the lock alone, in memory. */
export async function behindWriter<T>(
  { engine, locks }: Instance,
  name: string,
  come: () => T,
): Promise<{ readonly writer: Lock; readonly behind: T }> {
  const before = await locks.acquire(name);
  const writer = locks.acquire(name);
  const behind = come();
  await waitFor(() => engine.waitersOf(name) > 1, { that: 'somebody to come behind the writer' });
  // Where several wait, the turn that begins now has fencing tokens for them.
  await before.release();
  return { writer: await writer, behind };
}

/** Two readers behind a writer of their instance. */
export async function readersBehindWriter(
  instance: Instance,
  name: string,
  options: LockOptions = {},
): Promise<{ readonly writer: Lock; readonly first: Promise<Lock>; readonly next: Promise<Lock> }> {
  const { writer, behind } = await behindWriter(instance, name, () => ({
    first: instance.locks.acquire(name, { ...READ, ...options }),
    next: instance.locks.acquire(name, READ),
  }));
  return { writer, ...behind };
}

/** All three, the first of whom had the lock alone, read at the same time; then they release. */
export async function expectAllToRead(
  name: string,
  readers: readonly [Lock, Lock, Lock],
  locks: LockService,
): Promise<void> {
  await readers[0].extend();
  expect(readers.map(({ held }) => held)).toEqual([true, true, true]);
  expect((await locks.query(name)).held).toHaveLength(3);
  await Promise.all(readers.map((lock) => lock.release()));
}
