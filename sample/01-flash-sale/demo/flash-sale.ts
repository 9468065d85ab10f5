import type { Ledger } from './ledger.js';
import { sendBuyers } from './rush.js';
import { SALE_MODES, type SaleMode } from './sale-mode.js';

/** What one rush did, as counted in the database and at the buyers. */
export interface SaleResult {
  readonly path: string;
  /** Pieces in the orders that the database has. */
  readonly sold: number;
  /** Pieces sold beyond the stock. */
  readonly oversold: number;
  /** Buyers who were told that nothing is left. */
  readonly soldOut: number;
  /** Buyers who got an error, or no answer. */
  readonly failed: number;
  readonly ordersPerSecond: number;
  /** Milliseconds until the answer, for half of the buyers. */
  readonly p50: number;
  /** Milliseconds until the answer, for 99 of 100 buyers. */
  readonly p99: number;
}

export interface FlashSaleOptions {
  readonly urls: readonly string[];
  readonly stock: number;
  readonly buyers: number;
  readonly signal: AbortSignal;
}

/** Puts a product on sale, lets the buyers in, and counts. */
export class FlashSale {
  constructor(
    private readonly ledger: Ledger,
    private readonly options: FlashSaleOptions,
  ) {}

  async run(mode: SaleMode): Promise<SaleResult> {
    const { stock, buyers, signal } = this.options;
    const { path, sku } = SALE_MODES[mode];
    signal.throwIfAborted();
    await this.ledger.openSale({ sku, stock, buyers });

    const rush = await sendBuyers({ ...this.options, path, body: { sku, quantity: 1 } });
    signal.throwIfAborted();

    const sold = await this.ledger.sold(sku);
    const ordered = rush.statusCodeStats?.['201']?.count ?? 0;
    const soldOut = rush.statusCodeStats?.['409']?.count ?? 0;
    const failed = buyers - ordered - soldOut;
    await this.ledger.closeSale(sku, { soldOut, failed });
    return {
      path,
      sold,
      oversold: Math.max(0, sold - stock),
      soldOut,
      failed,
      ordersPerSecond: Math.round(ordered / rush.duration),
      p50: rush.latency.p50,
      p99: rush.latency.p99,
    };
  }
}
