import type { Clock } from '../../engine/clock.js';

export function sleep(clock: Clock, delay: number): Promise<void> {
  return new Promise((resolve) => void clock.schedule(resolve, delay));
}
