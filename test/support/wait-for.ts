import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds of a timer: it may be late by any time, and counts as one of these. */
const SLICE = 20;

/** How long to wait for a condition, and what to call it when it never comes. */
export interface WaitForOptions {
  /** Milliseconds until the wait fails, default 5,000. Those in which this process has no processor do not count. */
  readonly timeout?: number;
  /** Milliseconds between two looks, default 5. */
  readonly interval?: number;
  /** Completes the sentence "Waited 5000 ms in vain for …". */
  readonly that?: string;
}

type Truthy<T> = Exclude<T, undefined | null | false | 0 | 0n | ''>;

/**
 * Looks again and again until the condition gives something truthy, and returns that.
 *
 * A condition that throws counts as not met yet. It is not affected by Jest's fake timers.
 *
 * @throws Error when the time is up, with what the condition last threw as `cause`
 * @example
 * await waitFor(() => server.log.includes('Background saving started'), { that: 'the save to start' });
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeout = 5_000, interval = 5, that = 'a condition' }: WaitForOptions = {},
): Promise<Truthy<T>> {
  const over = new AbortController();
  const time = { isUp: false };
  // A look that never settles must not outlast the wait.
  const expired = pass(timeout, over.signal).then(
    () => void (time.isUp = true),
    () => undefined,
  );
  let cause: unknown;
  try {
    while (!time.isUp) {
      try {
        const seen = await Promise.race([condition(), expired]);
        if (isTruthy(seen)) return seen;
        cause = undefined;
      } catch (error) {
        cause = error;
      }
      await sleep(interval);
    }
  } finally {
    over.abort();
  }
  throw new Error(`Waited ${timeout} ms in vain for ${that}`, { cause });
}

/** Lets time pass, but for most of that in which this process has no processor. */
async function pass(duration: number, signal: AbortSignal): Promise<void> {
  for (let left = duration; left > 0; left -= SLICE)
    await sleep(Math.min(left, SLICE), undefined, { signal });
}

function isTruthy<T>(value: T | undefined): value is Truthy<T> {
  return Boolean(value);
}
