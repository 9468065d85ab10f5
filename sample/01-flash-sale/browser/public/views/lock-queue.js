import { html } from '/lit-html/lit-html.js';

/**
 * Who has the lock, and who gets it next.
 *
 * @param {import('../../../page/picture.interface.js').LockPicture | null} lock
 */
export function lockQueue(lock) {
  if (lock === null) return html`<p class="queue">Redis does not answer: no lock, no order.</p>`;
  if (lock.holder === null) return html`<p class="queue"><code>${lock.name}</code> is free.</p>`;
  return html`
    <div class="queue">
      <p><code>${lock.name}</code> is held by <strong class="holder">${lock.holder}</strong></p>
      ${lock.waiting.length > 0 ? waiters(lock.waiting) : ''}
    </div>
  `;
}

/** @param {readonly string[]} waiting */
function waiters(waiting) {
  return html`<p id="next">then</p>
    <ol aria-labelledby="next">
      ${waiting.map((name) => html`<li>${name}</li>`)}
    </ol>`;
}
