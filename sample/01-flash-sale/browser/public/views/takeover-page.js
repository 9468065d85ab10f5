import { html } from '/lit-html/lit-html.js';
import { controlPanel } from './control-panel.js';
import { hero } from './hero.js';
import { timeline } from './timeline.js';

/** @typedef {import('../../../tour/stage-picture.interface.js').TakeoverPicture} Picture */

/**
 * @param {Picture} picture
 * @param {import('../mount.js').Controls} controls
 * @param {import('../mount.js').Actions} actions
 */
export function takeoverPage(picture, controls, actions) {
  const { running, pages, length } = picture;
  const told = story(picture);
  const holds = holder(picture) !== undefined;
  const idle = {
    label: 'Start three workers',
    busy: controls.sending,
    start: () => actions.send('/tour/takeover', {}),
  };
  const kill = { busy: !holds, start: () => actions.send('/tour/takeover/kill', {}) };
  const run = running
    ? { label: holds ? 'Kill the holder' : dead(picture) ? 'The lease expires…' : 'Starting…', ...kill }
    : idle;
  const report = html`
    <aside class="report card" aria-label="The report">
      <p class="name">Report <span>in the database</span></p>
      <p class="stock"><strong id="pages">${pages.length}</strong> of ${length} pages</p>
      <ol class="pages" aria-label="Pages, with their workers">
        ${Array.from({ length }, (_, i) => html`<li data-who=${pages[i]?.worker ?? 'nobody'} title=${pages[i]?.worker ?? ''}>${i + 1}</li>`)}
      </ol>
    </aside>
  `;
  return html`
    ${hero(told, controlPanel(run, controls, actions.flip), report)} ${timeline(picture)}
    ${picture.workers.length > 0 ? workerCards(picture) : ''}
    <p class="visually-hidden" role="status">${told.kicker}</p>
  `;
}

/** @param {Picture} picture */
function workerCards({ workers, lock, pages, running }) {
  return html`<section class="instances" aria-labelledby="workers-title">
    <h2 id="workers-title">Workers</h2>
    <ul class="cards">
      ${workers.map(({ name, killed }) => {
        const place = lock?.waiting.indexOf(name) ?? -1;
        const state = killed ? 'killed' : lock?.holder === name ? 'holder' : place >= 0 ? 'waiter' : 'idle';
        const badge = {
          killed: 'killed',
          holder: 'holds the lock',
          waiter: place === 0 ? 'next' : '2nd in line',
          idle: running ? '' : 'ended',
        }[state];
        const written = pages.filter(({ worker }) => worker === name).length;
        return html`
          <li class="card" data-state=${state}>
            <h3>${name}</h3>
            <p class="badge">${badge}</p>
            <p>${written} pages</p>
          </li>
        `;
      })}
    </ul>
  </section>`;
}

/**
 * The worker that holds the lock and lives.
 *
 * @param {Picture} picture
 */
function holder({ workers, lock }) {
  return workers.find(({ name, killed }) => !killed && lock?.holder === name);
}

/**
 * The worker that was killed and whose lease has not expired.
 *
 * @param {Picture} picture
 */
function dead({ workers, lock }) {
  return workers.find(({ name, killed }) => killed && lock?.holder === name);
}

/**
 * @param {Picture} picture
 * @returns {import('./hero.js').Story}
 */
function story(picture) {
  const { events, running, pages, length, workers, lease } = picture;
  const told = {
    setup: `3 workers, 1 report, a lease of ${lease / 1_000} seconds`,
    explanation: html`The holder renews its lease while it writes. A process that is killed with
      <code>SIGKILL</code> cannot release its lock and no longer renews it: the lease expires, and Redis
      grants the lock to the next waiter, which continues with the next page.`,
    tone: /** @type {const} */ ('plain'),
  };
  if (events.length === 0 && !running)
    return { ...told, kicker: 'No run yet', headline: 'Who continues when a holder is killed?' };
  if (running) {
    const name = holder(picture)?.name;
    const victim = dead(picture);
    if (victim)
      return {
        ...told,
        kicker: 'Holder killed',
        tone: 'bad',
        headline: html`<em>${victim.name}</em> is dead, and its lease runs out.`,
      };
    return {
      ...told,
      kicker: 'Now writing',
      headline: name ? `One of three writes: ${name}.` : 'Three workers want one lock.',
    };
  }
  if (pages.length < length)
    return {
      ...told,
      kicker: 'Last run',
      tone: 'bad',
      headline: html`<em>Nobody</em> was left to continue.`,
    };
  const killed = workers.filter((worker) => worker.killed).length;
  const rest = killed > 0 ? `Although ${killed} died.` : 'Now kill a holder.';
  return {
    ...told,
    kicker: 'Last run',
    tone: 'good',
    headline: html`<em>${length}</em> pages, none twice. ${rest}`,
  };
}
