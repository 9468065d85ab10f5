import { html } from '/lit-html/lit-html.js';
import { here, next, previous, STOPS } from '../tour.js';
import { sourceCard } from './source-card.js';

/**
 * What all pages have in common: the way through the tour, and the code.
 *
 * @param {string} servedBy
 * @param {readonly import('./source-card.js').Excerpt[]} excerpts
 * @param {unknown} content
 */
export function shell(servedBy, excerpts, content) {
  return html`
    <header class="bar">
      <p class="brand"><img src="/icon.svg" alt="" width="28" height="28" />nest-redis-lock</p>
      <nav aria-label="Tour">
        <ol class="stops">
          ${STOPS.map(
            (stop, i) =>
              html`<li>
                <a href=${stop.path} aria-current=${stop === here ? 'page' : 'false'}
                  ><b>${i + 1}</b> ${stop.title}</a
                >
              </li>`,
          )}
        </ol>
      </nav>
      <p class="served">served by <strong>${servedBy}</strong></p>
    </header>
    <main>${content} ${sourceCard(excerpts)}</main>
    <nav class="onward" aria-label="Previous and next page">
      ${previous && link(previous, 'prev', html`<span aria-hidden="true">←</span> Previous`)}
      ${next && link(next, 'next', html`Next <span aria-hidden="true">→</span>`)}
    </nav>
  `;
}

/**
 * @param {import('../tour.js').Stop} stop
 * @param {'prev' | 'next'} rel
 * @param {unknown} direction
 */
function link({ path, title, teaser }, rel, direction) {
  return html`<a class="card" href=${path} rel=${rel}>
    <span>${direction}</span><strong>${title}</strong><span>${teaser}</span>
  </a>`;
}
