import { number } from '../views/number.js';
import { translucent } from './palette.js';

/**
 * @typedef {import('/uplot/uPlot.esm.js')} uPlot
 * @typedef {ReturnType<typeof import('./palette.js').palette>} Palette
 */

/**
 * Marks the region where nothing is left to sell.
 *
 * @param {uPlot} plot
 * @param {Palette} colours
 */
export function tintBelowZero(plot, { bad, muted }) {
  const { ctx } = plot;
  const { left, top, width, height } = plot.bbox;
  const zero = Math.round(plot.valToPos(0, 'y', true));
  const bottom = top + height;
  ctx.save();
  ctx.fillStyle = translucent(bad, 0.06);
  ctx.fillRect(left, zero, width, bottom - zero);
  ctx.fillStyle = muted;
  ctx.fillRect(left, zero - devicePixelRatio, width, 2 * devicePixelRatio);
  ctx.restore();
}

/**
 * Says what the region is, once a line gets there; over the grid, which would strike the words through.
 *
 * @param {uPlot} plot
 * @param {Palette} colours
 */
export function labelBelowZero(plot, { bad }) {
  const { ctx, data } = plot;
  if (!data[1]?.some((value) => Number(value) < 0)) return;
  const right = plot.bbox.left + plot.bbox.width;
  const zero = Math.round(plot.valToPos(0, 'y', true));
  ctx.save();
  ctx.font = font(13, 600);
  ctx.fillStyle = bad;
  ctx.textBaseline = 'top';
  ctx.textAlign = 'right';
  ctx.fillText('sold, but not there', right - 10 * devicePixelRatio, zero + 10 * devicePixelRatio);
  ctx.restore();
}

/**
 * Where each line ends: a mark, square without the lock and round with it, and its number.
 *
 * @param {uPlot} plot
 * @param {Palette} colours
 */
export function drawEnds(plot, { good, bad, before }) {
  const { ctx, data } = plot;
  const [times, unlocked, locked] = data;
  ctx.save();
  ctx.font = font(15, 700);
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  for (const [values, colour, mark] of /** @type {const} */ ([
    [unlocked, (/** @type {number} */ left) => (left < 0 ? bad : before), square],
    [locked, () => good, disc],
  ])) {
    const last = values?.findLastIndex((value) => typeof value === 'number') ?? -1;
    const left = values?.[last];
    const time = times[last];
    if (last < 1 || typeof left !== 'number' || time === undefined) continue;
    const x = plot.valToPos(time, 'x', true);
    const y = plot.valToPos(left, 'y', true);
    ctx.fillStyle = colour(left);
    mark(ctx, x, y);
    ctx.fillText(number(left), x + 11 * devicePixelRatio, y);
  }
  ctx.restore();
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 * @param {number} y
 */
function disc(ctx, x, y) {
  ctx.beginPath();
  ctx.arc(x, y, 5 * devicePixelRatio, 0, 2 * Math.PI);
  ctx.fill();
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 * @param {number} y
 */
function square(ctx, x, y) {
  const half = 5 * devicePixelRatio;
  ctx.fillRect(x - half, y - half, 2 * half, 2 * half);
}

/**
 * @param {number} size in pixels of the page
 * @param {number} weight
 */
function font(size, weight) {
  return `${weight} ${size * devicePixelRatio}px "Inter Variable", system-ui, sans-serif`;
}
