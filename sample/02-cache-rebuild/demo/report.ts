import Table from 'cli-table3';
import type { RebuildResult } from './cache-rebuild.js';

/** The routes side by side, for a reader. */
export function table(results: readonly RebuildResult[]): string {
  const rows = new Table({
    head: [
      '',
      'queries while cached',
      'queries after expiry',
      'locks after expiry',
      'failed',
      'last answer ms',
    ],
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [] },
  });
  for (const { path, cached, expired } of results) {
    const failed = cached.failed + expired.failed;
    rows.push([`GET ${path}`, cached.queries, expired.queries, expired.grants, failed, expired.last]);
  }
  return rows.toString();
}
