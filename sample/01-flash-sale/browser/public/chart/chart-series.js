import uPlot from '/uplot/uPlot.esm.js';

/** @typedef {import('../../../page/picture.interface.js').SalePicture} SalePicture */

/**
 * Both sales over one axis of seconds.
 *
 * @param {import('../sale.js').Picture['sales']} sales
 * @returns {uPlot.AlignedData}
 */
export function alignedSeries({ unlocked, locked }) {
  return uPlot.join([points(unlocked), points(locked)]);
}

/**
 * @param {SalePicture | undefined} sale
 * @returns {[number[], (number | null)[]]}
 */
function points(sale) {
  if (sale === undefined) return [[0], [null]];
  /** Several orders may come in one millisecond, on several instances. */
  const lastOfEach = new Map(sale.timeline.map(([elapsed, left]) => [elapsed / 1_000, left]));
  if (sale.endedAt !== null) lastOfEach.set((sale.endedAt - sale.startedAt) / 1_000, sale.stock - sale.sold);
  return [[...lastOfEach.keys()], [...lastOfEach.values()]];
}
