import Table from 'cli-table3';
import type { SaleResult } from './flash-sale.js';

const WHY_FEWER =
  'With the lock, fewer orders a second: all buyers want one product, and its payments run one at a time.';

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
  return `${result.toString()}\n${WHY_FEWER}`;
}

/** What a reader may look at and try by hand. */
export interface Invitation {
  readonly urls: readonly string[];
  readonly products: readonly string[];
  readonly left: number;
  /** The Redis that the sample started, if it did. */
  readonly redis: { readonly port: number } | undefined;
}

/** Where the page is, how to place orders by hand, and how to see what an outage does. */
export function invitation({ urls, products, left, redis }: Invitation): string {
  const items = products.map((sku) => ({ sku, quantity: 1 }));
  const outage = redis && [
    'What an outage does, and its end:',
    `  redis-cli -p ${redis.port} shutdown nosave`,
    `  redis-server --port ${redis.port} --save ''`,
  ];
  return [
    'Watch it, and the two other pages of the tour, on any of the instances:',
    ...urls.map((url) => `  ${url}`),
    `Or buy by hand, with ${left} pieces of ${products.join(' and ')} in stock each:`,
    ...urls.map((url) => curl(`${url}/orders`, items[0])),
    curl(`${urls[0]}/unlocked/orders`, items[0]),
    curl(`${urls[0]}/carts`, { items }),
    ...(outage ?? []),
    'End with Ctrl-C.',
  ].join('\n');
}

function curl(url: string, body: object | undefined): string {
  return `  curl -i ${url} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
}
