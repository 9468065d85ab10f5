import { seconds } from '../views/number.js';

/**
 * The chart in words.
 *
 * @param {import('../sale.js').Picture['sales']} sales
 */
export function chartSummary({ unlocked, locked }) {
  const lines = [line('Without the lock', unlocked), line('With the lock', locked)].filter(
    (text) => text !== undefined,
  );
  return lines.join(' ') || 'No sale yet.';
}

/**
 * @param {string} kind
 * @param {import('../../../page/picture.interface.js').SalePicture | undefined} sale
 */
function line(kind, sale) {
  if (sale === undefined) return undefined;
  const [elapsed] = sale.timeline.at(-1) ?? [0];
  return `${kind}: from ${sale.stock} pieces to ${sale.stock - sale.sold} within ${seconds(elapsed)}.`;
}
