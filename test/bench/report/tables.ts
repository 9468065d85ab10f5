import Table from 'cli-table3';
import type { CaseReport } from '../bench.js';

/** A case as text: what was measured, the table, and which goals were met. */
export function caseText({ title, notes, head, rows, goals }: CaseReport): string {
  const table = new Table({ head: [...head], style: { head: [], border: [] } });
  table.push(...rows.map((row) => [...row]));
  return [
    '',
    title,
    table.toString(),
    ...notes,
    ...goals.map(({ text, measured, met }) => `${met ? 'met   ' : 'MISSED'}  ${text}: ${measured}`),
  ].join('\n');
}
