import { type Abandonment, onAbort } from '../../primitives/abandonment.js';

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
      if (caller.aborted) return reject(caller.reason);
      const endWait = onAbort(caller.signal, () => {
        this.waiting.delete(begin);
        reject(caller.reason);
      });
      const begin = (): void => {
        this.waiting.delete(begin);
        endWait();
        resolve(take());
      };
      this.waiting.add(begin);
    });
  }

  /** Gives the slot to the next waiting call. */
  next(): void {
    const [begin] = this.waiting;
    begin?.();
  }
}
