import { StockChart } from './chart/stock-chart.js';
import { mount } from './mount.js';
import { salePage } from './views/sale-page.js';

/**
 * @typedef {import('../../page/picture.interface.js').Picture} Picture
 * @typedef {import('../../demo/sale-mode.js').SaleMode} SaleMode
 */

/** @type {StockChart | undefined} */
let chart;

void mount({
  pictures: '/pictures',
  view: salePage,
  drawn({ sales }) {
    const place = document.querySelector('#chart');
    if (place instanceof HTMLElement) chart ??= new StockChart(place);
    chart?.show(sales);
  },
});
