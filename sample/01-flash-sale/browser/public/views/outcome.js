import { html } from '/lit-html/lit-html.js';
import { oversold } from './latest-sale.js';
import { number, seconds } from './number.js';

/**
 * @typedef {import('../sale.js').SaleMode} SaleMode
 * @typedef {import('../../../page/picture.interface.js').SalePicture} SalePicture
 */

/** @type {Record<SaleMode, string>} */
const TITLES = { unlocked: 'Without the lock', locked: 'With the lock' };

/**
 * How the last sale of one kind went.
 *
 * @param {SaleMode} mode
 * @param {SalePicture | undefined} sale
 */
export function outcome(mode, sale) {
  return outcomeCard({ mode, title: TITLES[mode] }, sale && figuresOf(sale));
}

/**
 * @typedef {object} Figures
 * @property {number} count of what should be zero
 * @property {string} unit
 * @property {readonly (readonly [string, string])[]} rows
 * @property {unknown} [footer]
 *
 * @param {{ mode: SaleMode, title: string }} kind
 * @param {Figures | undefined} figures
 */
export function outcomeCard({ mode, title }, figures) {
  const verdict = figures === undefined ? 'none' : figures.count > 0 ? 'bad' : 'good';
  return html`
    <article class="outcome card" id="outcome-${mode}" data-mode=${mode} data-verdict=${verdict}>
      <h2>${title}</h2>
      ${figures ? filled(figures) : html`<p class="none">Not tried yet.</p>`}
    </article>
  `;
}

/** @param {Figures} figures */
function filled({ count, unit, rows, footer }) {
  return html`
    <p class="surplus"><strong>${number(count)}</strong> ${unit}</p>
    <dl>
      ${rows.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
    ${footer}
  `;
}

/**
 * @param {SalePicture} sale
 * @returns {Figures}
 */
function figuresOf(sale) {
  const { endedAt, startedAt } = sale;
  /** @param {string} value */
  const atEnd = (value) => (endedAt === null ? '…' : value);
  return {
    count: oversold(sale),
    unit: 'oversold',
    rows: [
      ['sold', `${number(sale.sold)} of ${number(sale.stock)}`],
      ['told “sold out”', atEnd(number(sale.soldOut))],
      ['failed', atEnd(number(sale.failed))],
      ['took', atEnd(seconds((endedAt ?? startedAt) - startedAt))],
    ],
    footer: html`<time class="visually-hidden" datetime=${new Date(endedAt ?? startedAt).toISOString()}>
      ${endedAt === null ? 'not ended' : new Date(endedAt).toLocaleTimeString()}
    </time>`,
  };
}
