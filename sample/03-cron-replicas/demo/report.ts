import Table from 'cli-table3';
import type { Outcome } from './outcome.js';

/** The jobs side by side, for a reader. */
export function table(rows: Readonly<Record<string, Outcome>>): string {
  const result = new Table({
    head: ['', 'runs', 'ticks missed', 'ticks repeated'],
    colAligns: ['left', 'right', 'right', 'right'],
    style: { head: [], border: [] },
  });
  for (const [title, { runs, missed, repeated }] of Object.entries(rows)) {
    result.push([title, runs, missed, repeated]);
  }
  return result.toString();
}
