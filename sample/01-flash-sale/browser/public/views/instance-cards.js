import { html, svg } from '/lit-html/lit-html.js';
import { number } from './number.js';

/**
 * @typedef {import('../sale.js').Picture} Picture
 * @typedef {import('../sale.js').SaleMode} SaleMode
 */

const ORDINALS = ['next', '2nd in line', '3rd in line'];

/** @param {Picture} picture */
export function instanceCards({ instances, sales, lock }) {
  const most = Math.max(1, ...Object.values(sales).flatMap((sale) => Object.values(sale.byInstance)));
  return html`<ul class="cards">
    ${instances.map(({ name, url }) => {
      const place = lock?.waiting.indexOf(name) ?? -1;
      const state = lock?.holder === name ? 'holder' : place >= 0 ? 'waiter' : 'idle';
      const badge = { holder: 'holds the lock', waiter: ORDINALS[place] ?? 'in line', idle: '' }[state];
      return html`
        <li class="card" data-state=${state}>
          <h3>${name}</h3>
          <p class="badge">${badge}</p>
          <a href=${url}>${new URL(url).host}</a>
          <dl aria-label="Orders">
            ${orders('unlocked', sales.unlocked?.byInstance[name] ?? 0, most)}
            ${orders('locked', sales.locked?.byInstance[name] ?? 0, most)}
          </dl>
        </li>
      `;
    })}
  </ul>`;
}

/**
 * @param {SaleMode} mode
 * @param {number} count
 * @param {number} most what a full bar stands for
 */
function orders(mode, count, most) {
  const label = mode === 'locked' ? 'with the lock' : 'without';
  return html`
    <div data-mode=${mode}>
      <dt>${label}</dt>
      <dd>
        <svg class="meter" aria-hidden="true">
          ${svg`<rect width="${(count / most) * 100}%" height="100%" rx="5" />`}
        </svg>
        ${number(count)}
      </dd>
    </div>
  `;
}
