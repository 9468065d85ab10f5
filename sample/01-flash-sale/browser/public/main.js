import { render } from '/lit-html/lit-html.js';
import { StockChart } from './chart/stock-chart.js';
import { watchPictures } from './pictures.js';
import { sendRush } from './rush.js';
import { page } from './views/page.js';

/**
 * @typedef {import('../../page/picture.interface.js').Picture} Picture
 * @typedef {import('../../demo/sale-mode.js').SaleMode} SaleMode
 *
 * @typedef {object} Controls
 * @property {SaleMode} mode what the switch says
 * @property {boolean} sending whether a rush of this page is on its way
 * @property {string} trouble why the last rush could not be sent, or nothing
 * @property {boolean} connected whether the instance still sends pictures
 */

/** @type {Controls} */
let controls = { mode: 'unlocked', sending: false, trouble: '', connected: true };
/** @type {Picture | undefined} */
let picture;
/** @type {StockChart | undefined} */
let chart;

const actions = {
  switchLock() {
    change({ mode: controls.mode === 'locked' ? 'unlocked' : 'locked' });
  },
  async startRush() {
    if (controls.sending || picture?.running) return;
    change({ sending: true, trouble: '' });
    const trouble = await sendRush(controls.mode);
    change({ sending: false, trouble });
  },
};

/** @param {Partial<Controls>} changed */
function change(changed) {
  controls = { ...controls, ...changed };
  show();
}

function show() {
  if (picture === undefined) return;
  render(page(picture, controls, actions), document.body);
  const place = document.querySelector('#chart');
  if (place instanceof HTMLElement) chart ??= new StockChart(place);
  chart?.show(picture.sales);
}

watchPictures({
  onPicture(latest) {
    picture = latest;
    change({ connected: true });
  },
  onLost() {
    change({ connected: false });
  },
});
