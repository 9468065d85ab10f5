import { html, svg } from '/lit-html/lit-html.js';
import { seconds } from './number.js';

/**
 * The lock and its lease, and below it what the processes did.
 *
 * @param {import('../../../tour/stage-picture.interface.js').StagePicture} picture
 */
export function timeline({ events, lock, lease, running }) {
  return html`
    <section class="timeline card" aria-labelledby="timeline-title">
      <h2 id="timeline-title">What happens</h2>
      ${leaseOf(lock, lease)}
      <ol>
        ${events.map(
          ({ at, who, what, token, verdict }) => html`
            <li data-who=${who} data-verdict=${verdict ?? 'none'}>
              <time>${seconds(at)}</time>
              <p><strong>${who}</strong> ${what}</p>
              ${token && html`<code>token ${token}</code>`}
            </li>
          `,
        )}
      </ol>
      ${events.length > 0 ? '' : html`<p class="none">${running ? 'The processes start…' : 'Nothing yet.'}</p>`}
    </section>
  `;
}

/**
 * @param {import('../../../page/picture.interface.js').LockPicture | null} lock
 * @param {number} lease
 */
function leaseOf(lock, lease) {
  if (lock === null)
    return html`<p class="lease" role="alert">Redis does not answer: nobody gets the lock.</p>`;
  const { holder, remaining = 0 } = lock;
  return html`
    <div class="lease">
      <p>
        ${holder ? html`Lease of <strong>${holder}</strong>: ${seconds(remaining)}` : 'The lock is free.'}
      </p>
      <svg class="meter" aria-hidden="true">
        ${svg`<rect width="${holder ? Math.min(100, (remaining / lease) * 100) : 0}%" height="100%" rx="5" />`}
      </svg>
    </div>
  `;
}
