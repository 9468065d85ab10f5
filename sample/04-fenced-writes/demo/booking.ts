import { isLockError, type LockError } from 'nest-redis-lock';
import type { Deposit, Deposits } from '../accounts/deposit.js';
import { StaleTokenError } from '../fencing/stale-token.error.js';

/** What a caller is told: that it was booked, or the code of the error. */
export type BookingAnswer = 'booked' | LockError['code'] | StaleTokenError['code'];

export async function bookAs(deposits: Deposits, deposit: Deposit): Promise<BookingAnswer> {
  try {
    await deposits.book(deposit);
    return 'booked';
  } catch (error) {
    if (isLockError(error) || error instanceof StaleTokenError) return error.code;
    throw error;
  }
}
