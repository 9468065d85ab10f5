import type { Abandonment } from '../../primitives/abandonment.js';

/** Calls that wait for the slot, in arrival order. */
export class SlotQueue {
  private readonly waiting = new Set<() => void>();

  /**
   * Waits for the slot, and then takes it by `take`, in the step that frees it.
   *
   * @param caller ends the wait: the Promise rejects with its reason.
   */
  wait<T>(caller: Abandonment, take: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const endWait = (): void => {
        this.waiting.delete(begin);
        caller.removeEventListener('abort', abort);
      };
      const begin = (): void => {
        endWait();
        resolve(take());
      };
      const abort = (): void => {
        endWait();
        reject(caller.reason);
      };
      if (caller.aborted) return abort();
      this.waiting.add(begin);
      caller.addEventListener('abort', abort);
    });
  }

  /** Gives the slot to the next waiting call. */
  next(): void {
    const [begin] = this.waiting;
    begin?.();
  }
}
