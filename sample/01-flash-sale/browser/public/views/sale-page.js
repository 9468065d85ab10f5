import { html } from '/lit-html/lit-html.js';
import { controlPanel } from './control-panel.js';
import { hero } from './hero.js';
import { latestSale } from './latest-sale.js';
import { instanceCards } from './instance-cards.js';
import { lockQueue } from './lock-queue.js';
import { outcome } from './outcome.js';
import { productCard } from './product-card.js';
import { number } from './number.js';
import { announcement, story } from './story.js';
import { chartSummary } from '../chart/chart-summary.js';

/**
 * @param {import('../sale.js').Picture} picture
 * @param {import('../mount.js').Controls} controls
 * @param {import('../mount.js').Actions} actions
 */
export function salePage(picture, controls, actions) {
  const { sales, next } = picture;
  const busy = controls.sending || picture.running !== null;
  const run = {
    lever: { label: 'Lock', code: "@Locked('order:<0.sku>')" },
    label: busy ? 'Selling…' : `Let ${number(next.buyers)} buyers in`,
    busy,
    start: () => actions.send('/rushes', { mode: controls.on ? 'locked' : 'unlocked' }),
  };
  return html`
    ${hero(story(picture), controlPanel(run, controls, actions.flip), productCard(next, latestSale(picture)))}
    <section class="chart card" aria-labelledby="chart-title">
      <div class="title">
        <h2 id="chart-title">Stock over time</h2>
        <ul class="legend">
          <li data-mode="unlocked">without the lock</li>
          <li data-mode="locked">with the lock</li>
        </ul>
      </div>
      <div id="chart" role="img" aria-label=${chartSummary(sales)}></div>
      <p class="axis">seconds since the doors opened</p>
    </section>
    <div class="outcomes">${outcome('unlocked', sales.unlocked)} ${outcome('locked', sales.locked)}</div>
    <section class="instances" aria-labelledby="instances-title">
      <div class="title">
        <h2 id="instances-title">Orders per instance</h2>
        ${lockQueue(picture.lock)}
      </div>
      ${instanceCards(picture)}
    </section>
    <p class="visually-hidden" role="status">${announcement(picture)}</p>
  `;
}
