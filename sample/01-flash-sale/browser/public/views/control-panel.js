import { html } from '/lit-html/lit-html.js';

/**
 * @typedef {object} Run
 * @property {{ label: string, code: string }} [lever] the switch, and the code that it stands for
 * @property {unknown} label of the button
 * @property {boolean} busy whether the button has nothing to start
 * @property {() => Promise<void>} start
 */

/**
 * The switch and the button.
 *
 * @param {Run} run
 * @param {import('../mount.js').Controls} controls
 * @param {() => void} flip
 */
export function controlPanel({ lever, label, busy, start }, { on, trouble, connected }, flip) {
  return html`
    <div class="controls">
      ${
        lever &&
        html`<button class="switch" type="button" role="switch" aria-checked=${on} @click=${flip}>
          <span class="track" aria-hidden="true"></span>
          <span class="label">${lever.label}</span>
          <code>${lever.code}</code>
        </button>`
      }
      <button class="rush" type="button" aria-disabled=${busy} @click=${() => busy || start()}>
        ${label}
      </button>
    </div>
    <p class="trouble" role="alert">
      ${connected ? trouble : 'The connection to this instance is lost. Trying again…'}
    </p>
  `;
}
