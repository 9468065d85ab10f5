/**
 * @typedef {import('../sale.js').Picture} Picture
 * @typedef {import('../sale.js').SaleMode} SaleMode
 * @typedef {import('../../../page/picture.interface.js').SalePicture} SalePicture
 *
 * @typedef {SalePicture & { mode: SaleMode, running: boolean }} LatestSale
 */

/**
 * The sale that runs, else the one that ran last.
 *
 * @param {Picture} picture
 * @returns {LatestSale | undefined}
 */
export function latestSale({ sales: { unlocked, locked }, running }) {
  if (unlocked === undefined && locked === undefined) return undefined;
  const isLocked = locked !== undefined && locked.startedAt >= (unlocked?.startedAt ?? 0);
  const sale = isLocked ? locked : unlocked;
  if (sale === undefined) return undefined;
  const mode = isLocked ? 'locked' : 'unlocked';
  return { ...sale, mode, running: running === mode };
}

/**
 * Pieces sold beyond the stock.
 *
 * @param {SalePicture} sale
 */
export function oversold({ sold, stock }) {
  return Math.max(0, sold - stock);
}
