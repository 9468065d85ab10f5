import { setTimeout as delay } from 'node:timers/promises';

const TIMEOUT = 30_000;
const INTERVAL = 50;

/** Waits until a condition is met; one that throws, because a server is gone, is not met yet. */
export async function until(
  what: string,
  signal: AbortSignal,
  condition: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + TIMEOUT;
  while (!(await condition().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`Waited in vain until ${what}`);
    await delay(INTERVAL, undefined, { signal });
  }
}
