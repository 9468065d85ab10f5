import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * A stock in a database whose transactions see what has been committed and what they have written themselves, as with
 * PostgreSQL's READ COMMITTED. A transaction is the one of the async context, as transaction decorators have it.
 */
export class StockTable {
  private readonly current = new AsyncLocalStorage<{ left?: number; sold: number }>();
  sold = 0;

  constructor(private left: number) {}

  async transaction(work: () => Promise<void>): Promise<void> {
    const written: { left?: number; sold: number } = { sold: 0 };
    await this.current.run(written, work);
    await nextTurn(); // the COMMIT on its way to the server
    this.left = written.left ?? this.left;
    this.sold += written.sold;
  }

  /** Sells a piece if one is left, in the transaction that the caller has opened. */
  async sell(): Promise<void> {
    const transaction = this.current.getStore();
    if (!transaction) throw new Error('There is no transaction');
    const left = transaction.left ?? this.left;
    await nextTurn();
    if (left > 0) Object.assign(transaction, { left: left - 1, sold: transaction.sold + 1 });
  }
}
