import type { Abandonment } from '../../primitives/abandonment.js';

/** Calls that wait for their turn, in arrival order. */
export class Turns {
  private readonly waiting = new Set<() => void>();

  /**
   * Waits for a turn, and then takes it by `take`, in the step that ends the turn before.
   *
   * @param caller ends the wait: the Promise rejects with its reason.
   */
  wait<T>(caller: Abandonment, take: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.waiting.delete(begin);
        caller.removeEventListener('abort', abort);
      };
      const begin = (): void => {
        leave();
        resolve(take());
      };
      const abort = (): void => {
        leave();
        reject(caller.reason);
      };
      if (caller.aborted) return abort();
      this.waiting.add(begin);
      caller.addEventListener('abort', abort);
    });
  }

  /** Gives the turn to the next waiting call. */
  next(): void {
    const [begin] = this.waiting;
    begin?.();
  }
}
