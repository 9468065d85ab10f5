/** A sale without the lock, and one with it. */
export type SaleMode = 'unlocked' | 'locked';

/** Where the buyers of each sale go, and what they buy: each sale has a product of its own. */
export const SALE_MODES: Readonly<Record<SaleMode, { readonly path: string; readonly sku: string }>> = {
  unlocked: { path: '/unlocked/orders', sku: 'unlocked-sneaker' },
  locked: { path: '/orders', sku: 'sneaker' },
};
