import { render } from '/lit-html/lit-html.js';
import { watchPictures } from './pictures.js';
import { send } from './send.js';
import { here } from './tour.js';
import { shell } from './views/shell.js';

/**
 * @typedef {object} Controls
 * @property {boolean} on what the switch says
 * @property {boolean} sending whether a request of this page is on its way
 * @property {string} trouble why the last one failed, or nothing
 * @property {boolean} connected whether the instance still sends pictures
 *
 * @typedef {object} Actions
 * @property {() => void} flip turns the switch
 * @property {(url: string, body: object) => Promise<void>} send
 */

/**
 * Shows a page of the tour: every picture that the instance sends, and what the reader does.
 *
 * @template {{ servedBy: string }} Picture
 * @param {object} page
 * @param {string} page.pictures where the pictures come from
 * @param {(picture: Picture, controls: Controls, actions: Actions) => unknown} page.view
 * @param {(picture: Picture) => void} [page.drawn] called after each change
 */
export async function mount({ pictures, view, drawn }) {
  /** @type {Controls} */
  let controls = { on: false, sending: false, trouble: '', connected: true };
  /** @type {Picture | undefined} */
  let picture;

  /** @type {Actions} */
  const actions = {
    flip() {
      change({ on: !controls.on });
    },
    async send(url, body) {
      change({ sending: true, trouble: '' });
      const trouble = await send(url, body);
      change({ sending: false, trouble });
    },
  };

  /** @param {Partial<Controls>} changed */
  function change(changed) {
    controls = { ...controls, ...changed };
    if (picture === undefined) return;
    render(shell(picture.servedBy, excerpts, view(picture, controls, actions)), document.body);
    drawn?.(picture);
  }

  const response = await fetch(`/tour/excerpts/${here.name}`);
  /** @type {import('./views/source-card.js').Excerpt[]} */
  const excerpts = await response.json();
  watchPictures(pictures, {
    /** @param {Picture} latest */
    onPicture(latest) {
      picture = latest;
      change({ connected: true });
    },
    onLost() {
      change({ connected: false });
    },
  });
}
