import { html } from '/lit-html/lit-html.js';
import { oversold } from './latest-sale.js';
import { number, seconds } from './number.js';

/**
 * @typedef {import('../main.js').SaleMode} SaleMode
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
  return html`
    <article class="outcome card" id="outcome-${mode}" data-mode=${mode} data-verdict=${verdict(sale)}>
      <h2>${TITLES[mode]}</h2>
      ${sale ? figures(sale) : html`<p class="none">Not tried yet.</p>`}
    </article>
  `;
}

/** @param {SalePicture | undefined} sale */
function verdict(sale) {
  if (sale === undefined) return 'none';
  return oversold(sale) > 0 ? 'bad' : 'good';
}

/** @param {SalePicture} sale */
function figures(sale) {
  const surplus = oversold(sale);
  const { endedAt, startedAt } = sale;
  return html`
    <p class="surplus"><strong>${number(surplus)}</strong> oversold</p>
    <dl>
      <div>
        <dt>sold</dt>
        <dd>${number(sale.sold)} of ${number(sale.stock)}</dd>
      </div>
      <div>
        <dt>told “sold out”</dt>
        <dd>${endedAt === null ? '…' : number(sale.soldOut)}</dd>
      </div>
      <div>
        <dt>failed</dt>
        <dd>${endedAt === null ? '…' : number(sale.failed)}</dd>
      </div>
      <div>
        <dt>took</dt>
        <dd>${endedAt === null ? '…' : seconds(endedAt - startedAt)}</dd>
      </div>
    </dl>
    <time class="visually-hidden" datetime=${new Date(endedAt ?? startedAt).toISOString()}>
      ${endedAt === null ? 'not ended' : new Date(endedAt).toLocaleTimeString()}
    </time>
  `;
}
