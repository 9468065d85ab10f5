import type { SaleResult } from '../../sample/01-flash-sale/demo/flash-sale.js';
import { listens } from './support/remains.js';
import { SampleRuns } from './support/sample-runs.js';

interface Printed {
  readonly urls: readonly string[];
  /** The Redis that the sample started itself. */
  readonly redis?: string;
  readonly locked: SaleResult;
}

// Apart from flash-sale.spec.ts, which the fast suites run, too.
it('Sample 01 exits with code 1 when the locked sale did not sell its stock, and ends the Redis of its own', async () => {
  await using runs = await SampleRuns.of('01-flash-sale');
  const run = runs.start(['--json', '--exit', '--stock', '10', '--buyers', '6']);
  const { locked, urls, redis = '' } = await run.json<Printed>();
  expect(locked.sold).toBe(6);
  expect(await run.ended).toEqual([1, null]);
  for (const server of [...urls, redis]) expect(await listens(server)).toBe(false);
  expect(await runs.files()).toEqual([]);
});
