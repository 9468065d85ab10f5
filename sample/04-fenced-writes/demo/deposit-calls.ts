import type { Deposit } from '../accounts/deposit.js';
import type { BookingAnswer } from './booking.js';
import type { Moment } from './freeze.js';

/** What keeps a late write out. */
export type Guard = 'locked' | 'checked' | 'fenced';

/** What a worker can be told. */
export interface DepositCalls {
  /** Lets the worker freeze once, in the course of its next booking. */
  freezeAt(moment: Moment): void;
  book(guard: Guard, deposit: Deposit): Promise<BookingAnswer>;
}

/** What a worker tells. */
export interface DepositNotices {
  /** Its hold of the account's lock begins. */
  granted(token: number): void;
  /** It stops now. */
  frozen(): void;
}
