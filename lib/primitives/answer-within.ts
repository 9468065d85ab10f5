import type { Clock } from './clock.js';
import { AnswerWakeUp } from './wake-up.js';

/** Rejects when a reply takes longer than `delay` ms. The caller handles a late reply. */
export function answerWithin<T>(clock: Clock, answer: Promise<T>, delay: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = new AnswerWakeUp(clock, () => reject(new Error('There was no reply in time.')));
    timer.at(clock.now() + delay);
    answer.then(resolve, reject).finally(() => timer.clear());
  });
}

/**
 * Settles like `answer`, or with the result of `late` if `answer` takes longer than `delay` ms by the system's clock.
 */
export async function within<T>(delay: number, answer: Promise<T>, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, delay).unref();
  });
  try {
    return await Promise.race([answer, end.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}

export function sleep(clock: Clock, delay: number): Promise<void> {
  return new Promise((resolve) => void clock.schedule(resolve, delay));
}
