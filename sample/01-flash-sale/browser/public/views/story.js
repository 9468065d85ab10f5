import { html } from '/lit-html/lit-html.js';
import { latestSale, oversold } from './latest-sale.js';
import { number } from './number.js';

/**
 * @typedef {import('../sale.js').Picture} Picture
 * @typedef {import('./latest-sale.js').LatestSale} LatestSale
 * @typedef {import('./hero.js').Story} Story
 */

/**
 * What happens, or happened last, in one sentence and in three.
 *
 * @param {Picture} picture
 * @returns {Story}
 */
export function story(picture) {
  const sale = latestSale(picture);
  if (sale === undefined) return prologue(picture);
  const explanation = sale.mode === 'locked' ? lockedExplanation : unlockedExplanation(sale);
  return { ...headlineOf(sale), kicker: kickerOf(sale), setup: setup(sale, picture), explanation };
}

/**
 * The beginning and the end for those who listen: not every number between.
 *
 * @param {Picture} picture
 */
export function announcement(picture) {
  const sale = latestSale(picture);
  if (sale === undefined) return '';
  const kind = kindOf(sale);
  if (sale.running) return `A sale ${kind} runs.`;
  return `Sale ${kind} ended: ${sale.sold} of ${sale.stock} pieces sold, ${oversold(sale)} oversold.`;
}

/**
 * @param {Picture} picture
 * @returns {Story}
 */
function prologue(picture) {
  const { stock, buyers } = picture.next;
  return {
    tone: 'plain',
    kicker: 'No sale yet',
    headline: html`${number(buyers)} buyers want ${number(stock)} sneakers.`,
    setup: setup(picture.next, picture),
    explanation: 'Three instances of one shop let them in at once. Send them with the lock and without it.',
  };
}

/**
 * @param {{ stock: number, buyers: number }} sale
 * @param {Picture} picture
 */
function setup({ stock, buyers }, { instances }) {
  return `${number(buyers)} buyers, ${number(instances.length)} instances, ${number(stock)} pairs`;
}

/**
 * Which sale the headline is about: the switch may stand for the next one.
 *
 * @param {LatestSale} sale
 */
function kickerOf(sale) {
  return `${sale.running ? 'Now selling' : 'Last sale'}, ${kindOf(sale)}`;
}

/** @param {LatestSale} sale */
function kindOf({ mode }) {
  return mode === 'locked' ? 'with the lock' : 'without the lock';
}

/**
 * @param {LatestSale} sale
 * @returns {Pick<Story, 'tone' | 'headline'>}
 */
function headlineOf(sale) {
  const { mode, running, sold, stock } = sale;
  const surplus = oversold(sale);
  if (surplus > 0) {
    const verb = running ? 'being sold' : 'sold';
    return { tone: 'bad', headline: html`<em>${number(surplus)}</em> sneakers ${verb} that do not exist.` };
  }
  if (running && sold < stock) {
    const headline =
      mode === 'locked' ? 'One buyer at a time, over three instances.' : 'Everybody buys at once.';
    return { tone: 'plain', headline };
  }
  const rest = sold === stock ? 'Not one too many.' : '';
  return { tone: 'good', headline: html`<em>${number(sold)}</em> sneakers sold. ${rest}` };
}

/** @param {LatestSale} sale */
function unlockedExplanation({ buyers, stock }) {
  return html`While one buyer pays, the others read the same stock and buy the same piece. ${number(buyers)}
  buyers came for ${number(stock)} sneakers; every instance believed it had some left.`;
}

const lockedExplanation = html`One line more, <code>@Locked('order:&lt;0.sku&gt;')</code>: orders for one
  product run one at a time, on every instance. Buyers who find nothing left get <code>409 Conflict</code>.`;
