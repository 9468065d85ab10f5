import { html } from '/lit-html/lit-html.js';
import { number } from './number.js';

/** @typedef {{ switchLock: () => void, startRush: () => Promise<void> }} Actions */

/**
 * The switch, the line of code that it stands for, and the button.
 *
 * @param {import('../main.js').Picture} picture
 * @param {import('../main.js').Controls} controls
 * @param {Actions} actions
 */
export function controlPanel(
  { next, running },
  { mode, sending, trouble, connected },
  { switchLock, startRush },
) {
  const locked = mode === 'locked';
  const busy = sending || running !== null;
  return html`
    <div class="controls">
      <button class="switch" type="button" role="switch" aria-checked=${locked} @click=${switchLock}>
        <span class="track" aria-hidden="true"></span>
        <span class="label">Lock</span>
        <code>@Locked('order:&lt;0.sku&gt;')</code>
      </button>
      <button class="rush" type="button" aria-disabled=${busy} @click=${startRush}>
        ${busy ? 'Selling…' : html`Let ${number(next.buyers)} buyers in`}
      </button>
    </div>
    <p class="trouble" role="alert">
      ${connected ? trouble : 'The connection to this instance is lost. Trying again…'}
    </p>
  `;
}
