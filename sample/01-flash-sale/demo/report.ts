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

/** What a reader may try by hand. */
export interface Invitation {
  readonly urls: readonly string[];
  readonly paths: readonly string[];
  readonly sku: string;
  readonly left: number;
  /** The Redis that the sample started, if it did. */
  readonly redis: { readonly port: number } | undefined;
}

/** How to place orders by hand, and how to see what an outage does. */
export function invitation({ urls, paths, sku, left, redis }: Invitation): string {
  const body = JSON.stringify({ sku, quantity: 1 });
  const calls = urls.flatMap((url) =>
    paths.map((path) => `  curl -i ${url}${path} -H 'content-type: application/json' -d '${body}'`),
  );
  const outage = redis && [
    'What an outage does, and its end:',
    `  redis-cli -p ${redis.port} shutdown nosave`,
    `  redis-server --port ${redis.port} --save ''`,
  ];
  return [
    `The instances keep serving, with ${left} pieces of ${sku} in stock:`,
    ...calls,
    ...(outage ?? []),
    'End with Ctrl-C.',
  ].join('\n');
}
