import { html } from '/lit-html/lit-html.js';

/**
 * @typedef {object} Story
 * @property {'plain' | 'bad' | 'good'} tone
 * @property {string} kicker
 * @property {unknown} headline
 * @property {string} setup
 * @property {unknown} explanation
 */

/**
 * What happens, or happened last, with the controls and a card beside it.
 *
 * @param {Story} story
 * @param {unknown} panel
 * @param {unknown} aside
 */
export function hero({ tone, kicker, headline, setup, explanation }, panel, aside) {
  return html`
    <section class="hero" aria-labelledby="headline">
      <div class="pitch">
        <p class="kicker">${kicker}</p>
        <h1 id="headline" data-tone=${tone}>${headline}</h1>
        <p class="setup">${setup}</p>
        <p class="explanation">${explanation}</p>
        ${panel}
      </div>
      ${aside}
    </section>
  `;
}
