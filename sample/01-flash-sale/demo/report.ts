import Table from 'cli-table3';
import type { SaleResult } from './flash-sale.js';

/** The sales side by side, for a reader. */
export function table(sales: readonly SaleResult[]): string {
  const result = new Table({
    head: ['', 'sold', 'oversold', 'sold out', 'failed', 'orders/s', 'p50 ms', 'p99 ms'],
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [] },
  });
  for (const sale of sales) {
    result.push([
      `POST ${sale.path}`,
      sale.sold,
      sale.oversold,
      sale.soldOut,
      sale.failed,
      sale.ordersPerSecond,
      sale.p50,
      sale.p99,
    ]);
  }
  return result.toString();
}

/** How to place orders by hand. */
export function invitation(urls: readonly string[], paths: readonly string[], sku: string): string {
  const body = JSON.stringify({ sku, quantity: 1 });
  const calls = urls.flatMap((url) =>
    paths.map((path) => `  curl -i ${url}${path} -H 'content-type: application/json' -d '${body}'`),
  );
  return ['The instances keep serving. Try, and end with Ctrl-C:', ...calls].join('\n');
}
