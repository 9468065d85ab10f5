import type { BankBooks } from './bank-books.js';
import type { BookingAnswer } from './booking.js';
import type { DepositWorker } from './deposit-worker.js';
import type { DepositCalls, Guard } from './deposit-calls.js';
import type { Moment } from './freeze.js';

const OPENING = 100;
const FIRST_AMOUNT = 10;
const SECOND_AMOUNT = 50;

/** What keeps a late write out, and when the first worker freezes. */
export interface TakeOver {
  readonly guard: Guard;
  readonly frozen: Moment;
}

/** How it ended, as told by the workers and as found in the database. */
export interface TakeOverResult extends TakeOver {
  /** Fencing tokens of the first and the second hold. */
  readonly tokens: readonly number[];
  /** Milliseconds that the second worker waited for the lock of the frozen one. */
  readonly waited: number;
  readonly first: BookingAnswer;
  readonly second: BookingAnswer;
  readonly balance: number;
  /** What the second worker booked, and the account does not have. */
  readonly lost: number;
}

/** What one of the workers does at this moment. */
export interface TakeOverEvent {
  readonly worker: 1 | 2;
  readonly what: string;
  /** Fencing token, where a hold begins. */
  readonly token?: number;
}

/** Two workers that share a database and a Redis. */
export interface Workers {
  readonly first: DepositWorker;
  readonly second: DepositWorker;
}

/**
 * The first worker freezes while it books a deposit, until the second one has waited for the end of its lease and
 * has booked another one. Then the first one wakes up, and goes on where it was.
 *
 * @param tell - Gets what happens, while it happens.
 * @throws Error when a worker is too slow for its lease, on a busy machine.
 */
export async function takeOver(
  { first, second }: Workers,
  books: BankBooks,
  { guard, frozen }: TakeOver,
  tell: (event: TakeOverEvent) => void,
): Promise<TakeOverResult> {
  const account = `${guard}, frozen ${frozen}`;
  await books.openAccount(account, OPENING);

  const tokens: number[] = [];
  const grantedTo = (worker: 1 | 2, token: number): void => {
    tokens.push(token);
    tell({ worker, what: 'acquires the lock', token });
  };
  void first.granted().then((token) => grantedTo(1, token));
  const late = await bookAndFreeze(first, frozen, [guard, { account, amount: FIRST_AMOUNT }]);
  tell({ worker: 1, what: `is frozen ${frozen} (process ${first.pid})` });
  const asked = performance.now();
  tell({ worker: 2, what: 'waits for the lock' });
  void second.granted().then((token) => grantedTo(2, token));
  const answer = await second.calls.book(guard, { account, amount: SECOND_AMOUNT });
  const waited = Math.round(performance.now() - asked);
  if (answer !== 'booked') throw tooSlow(2, answer);
  tell({ worker: 2, what: `is done after ${waited} ms: ${answer}` });
  first.wakeUp();
  const lateAnswer = await late.answer;
  tell({ worker: 1, what: `wakes up: ${lateAnswer}` });

  const balance = await books.balance(account);
  return {
    guard,
    frozen,
    tokens,
    waited,
    first: lateAnswer,
    second: answer,
    balance,
    lost: balance < OPENING + SECOND_AMOUNT ? SECOND_AMOUNT : 0,
  };
}

/** Resolves when the worker is frozen; its answer comes after it has been woken up. */
async function bookAndFreeze(
  worker: DepositWorker,
  moment: Moment,
  booking: Parameters<DepositCalls['book']>,
): Promise<{ readonly answer: Promise<BookingAnswer> }> {
  await worker.calls.freezeAt(moment);
  const frozen = worker.frozen();
  const answer = worker.calls.book(...booking);
  const early = await Promise.race([frozen, answer]);
  if (early !== undefined) throw tooSlow(1, early);
  return { answer };
}

function tooSlow(worker: number, answer: BookingAnswer): Error {
  return new Error(`Worker ${worker} was too slow for its lease (${answer}): try a longer --lease`);
}
