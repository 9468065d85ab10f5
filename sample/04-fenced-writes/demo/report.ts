import Table from 'cli-table3';
import type { Guard } from './deposit-calls.js';
import type { TakeOverResult } from './take-over.js';

/** What keeps a late write out, in words. */
export const GUARDS: Readonly<Record<Guard, string>> = {
  locked: 'the lock alone',
  checked: 'assertHeld() before the write',
  fenced: 'assertHeld() and the fencing token',
};

/** The take-overs side by side, for a reader. */
export function table(results: readonly TakeOverResult[]): string {
  const result = new Table({
    head: ['guard', 'frozen', 'worker 1 is told', 'balance', 'lost'],
    colAligns: ['left', 'left', 'left', 'right', 'right'],
    style: { head: [], border: [] },
  });
  for (const { guard, frozen, first, balance, lost } of results) {
    result.push([GUARDS[guard], frozen, first, balance, lost]);
  }
  return result.toString();
}
