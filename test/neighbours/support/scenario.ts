import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { LockService } from 'nest-redis-lock';

/** The name that every order of a scenario locks. */
export const STOCK = 'stock';
/** Milliseconds that an order waits for its turn; the whole scenario takes less. */
export const PATIENCE = 30_000;

/** How many orders a scenario places at the same time. */
export const ORDERS = 20;

/** An application with a neighbour, as its clients see it. */
export interface Shop {
  readonly locks: LockService;
  /** Places an order as a client does, and resolves to the reply. */
  place(): Promise<unknown>;
  /** The reply that each order must have. */
  readonly reply: unknown;
  /** Places an order that does not wait for its lock, and resolves to its refusal. */
  placeImpatiently(): Promise<unknown>;
  /** The refusal that a caller must see while another one holds the lock. */
  readonly refusal: unknown;
  /** How many orders the stock has seen. */
  sold(): number | Promise<number>;
}

/**
 * Runs a scenario and says `closed` once everything is closed: the runner then waits for the end of the process.
 */
export function scenario(run: () => Promise<void>): void {
  run().then(
    () => process.stdout.write('closed\n'),
    (error: unknown) => {
      process.stdout.write(
        `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
        () => process.exit(1),
      );
    },
  );
}

/** Places orders at the same time, then one while somebody else holds the lock, and looks for what is left. */
export async function tryShop(shop: Shop): Promise<void> {
  const before = await shop.sold();
  const replies = await Promise.all(Array.from({ length: ORDERS }, () => shop.place()));
  const lost = ORDERS - ((await shop.sold()) - before);
  assert.equal(lost, 0, `${lost} of ${ORDERS} updates were lost`);
  for (const reply of replies) assert.deepEqual(reply, shop.reply);

  const lock = await shop.locks.acquire(STOCK);
  const refusal = await shop.placeImpatiently();
  await lock.release();
  assert.deepEqual(refusal, shop.refusal);
  await expectNothingHeld(shop.locks);
}

/** Waits until the stock's lock has neither a holder nor a waiter. */
export async function expectNothingHeld(locks: LockService): Promise<void> {
  const end = performance.now() + 10_000;
  for (;;) {
    const { held, pending } = await locks.query(STOCK);
    const own = locks.holds();
    if (held.length + pending.length + own.length === 0) return;
    assert.ok(performance.now() < end, `still held: ${JSON.stringify({ held, pending, own })}`);
    await delay(5);
  }
}
