import { html } from '/lit-html/lit-html.js';
import { controlPanel } from './control-panel.js';
import { hero } from './hero.js';
import { number } from './number.js';
import { outcomeCard } from './outcome.js';
import { timeline } from './timeline.js';

/**
 * @typedef {import('../../../tour/stage-picture.interface.js').FencingPicture} Picture
 * @typedef {import('../../../tour/stage-picture.interface.js').FencingGuard} Guard
 */

/** @type {Record<Guard, string>} */
const KINDS = { locked: 'without the token', fenced: 'with the token' };

/**
 * @param {Picture} picture
 * @param {import('../mount.js').Controls} controls
 * @param {import('../mount.js').Actions} actions
 */
export function fencingPage(picture, controls, actions) {
  const { account, results, running } = picture;
  const busy = controls.sending || running;
  const run = {
    lever: { label: 'Fencing token', code: 'fencingToken' },
    label: busy ? 'Writing…' : 'Let both write',
    busy,
    start: () => actions.send('/tour/fencing', { guard: controls.on ? 'fenced' : 'locked' }),
  };
  const store = html`
    <aside class="account card" aria-label="The account">
      <p class="name">Account <span>in the database</span></p>
      <p class="stock"><strong id="balance">${account ? number(account.balance) : '…'}</strong> balance</p>
      <p class="seen">newest token <code>${account && account.token > 0 ? account.token : 'none'}</code></p>
    </aside>
  `;
  const told = story(picture);
  return html`
    ${hero(told, controlPanel(run, controls, actions.flip), store)} ${timeline(picture)}
    <div class="outcomes">${outcome('locked', results.locked)} ${outcome('fenced', results.fenced)}</div>
    <p class="visually-hidden" role="status">${told.kicker}</p>
  `;
}

/**
 * @param {Guard} guard
 * @param {import('../../../tour/stage-picture.interface.js').FencingResult | undefined} result
 */
function outcome(guard, result) {
  const mode = guard === 'fenced' ? 'locked' : 'unlocked';
  const title = guard === 'fenced' ? 'With the token' : 'Without the token';
  return outcomeCard(
    { mode, title },
    result && {
      count: result.lost,
      unit: 'lost',
      rows: [
        ['balance', number(result.balance)],
        ['expected', '150'],
      ],
    },
  );
}

/**
 * @param {Picture} picture
 * @returns {import('./hero.js').Story}
 */
function story({ events, guard, results, running, lease }) {
  const setup = `2 writers, 1 account with 100, a lease of ${lease / 1_000} seconds`;
  const explanation = html`Writer 1 reads 100 and is frozen right before it writes 110, as a paused container
    is. Its lease expires, and writer 2 adds 50. Then writer 1 wakes up and still believes that it holds the
    lock. Only the account can refuse its write, by the older <code>fencingToken</code>.`;
  const told = { setup, explanation, tone: /** @type {const} */ ('plain') };
  const result = results[guard];
  if (running)
    return {
      ...told,
      kicker: `Now writing, ${KINDS[guard]}`,
      headline: 'One writer sleeps through its lease.',
    };
  if (!result || events.length === 0)
    return { ...told, kicker: 'No run yet', headline: 'A lock cannot wake a frozen writer.' };
  const kicker = `Last run, ${KINDS[guard]}`;
  if (result.lost > 0)
    return {
      ...told,
      kicker,
      tone: 'bad',
      headline: html`<em>${result.lost}</em> lost. Writer 1 overwrote writer 2.`,
    };
  return { ...told, kicker, tone: 'good', headline: html`Late write <em>refused.</em> Nothing is lost.` };
}
