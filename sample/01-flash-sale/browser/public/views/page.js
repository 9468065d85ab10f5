import { html } from '/lit-html/lit-html.js';
import { controlPanel } from './control-panel.js';
import { latestSale } from './latest-sale.js';
import { instanceCards } from './instance-cards.js';
import { lockQueue } from './lock-queue.js';
import { outcome } from './outcome.js';
import { productCard } from './product-card.js';
import { announcement, story } from './story.js';
import { chartSummary } from '../chart/chart-summary.js';

/**
 * @typedef {import('../main.js').Picture} Picture
 * @typedef {import('../main.js').Controls} Controls
 * @typedef {import('./control-panel.js').Actions} Actions
 */

/**
 * @param {Picture} picture
 * @param {Controls} controls
 * @param {Actions} actions
 */
export function page(picture, controls, actions) {
  const { sales, servedBy } = picture;
  const { tone, kicker, headline, setup, explanation } = story(picture);
  return html`
    <header class="bar">
      <p class="brand"><img src="/icon.svg" alt="" width="28" height="28" />nest-redis-lock</p>
      <p class="served">served by <strong>${servedBy}</strong></p>
    </header>
    <main>
      <section class="hero" aria-labelledby="headline">
        <div class="pitch">
          <p class="kicker">${kicker}</p>
          <h1 id="headline" data-tone=${tone}>${headline}</h1>
          <p class="setup">${setup}</p>
          <p class="explanation">${explanation}</p>
          ${controlPanel(picture, controls, actions)}
        </div>
        ${productCard(picture.next, latestSale(picture))}
      </section>
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
    </main>
    <p class="visually-hidden" role="status">${announcement(picture)}</p>
  `;
}
