import Table from 'cli-table3';
import pc from 'picocolors';
import { LOCK_KINDS } from '../locks/lock-kind.js';
import type { Outcome } from './contest.js';

/** A row for each lock, a column for each event. */
export function table(outcomes: readonly Outcome[]): string {
  const events = [...new Set(outcomes.map(({ event }) => event))];
  const result = new Table({ head: ['', ...events], style: { head: [], border: [] } });
  for (const lock of LOCK_KINDS) {
    const row = outcomes.filter((outcome) => outcome.lock === lock);
    result.push([lock, ...row.map(cell)]);
  }
  return result.toString();
}

function cell({ survived, outcome }: Outcome): string {
  return survived ? pc.green(`✓ ${outcome}`) : pc.red(`✗ ${outcome}`);
}
