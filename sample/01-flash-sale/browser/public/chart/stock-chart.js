import uPlot from '/uplot/uPlot.esm.js';
import { alignedSeries } from './chart-series.js';
import { drawEnds, labelBelowZero, tintBelowZero } from './chart-marks.js';
import { number } from '../views/number.js';
import { palette, translucent } from './palette.js';

/** The sale without the lock, in pixels of the page that are drawn and left out: it must differ by more than its colour. */
const DASH = [7, 4];
const FONT = '500 13px "Inter Variable", system-ui, sans-serif';
/** Seconds: a shorter sale does not fill the width. */
const SHORTEST = 0.5;

/** The stock of both sales over time, in the colours of the theme. */
export class StockChart {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    this.colours = palette();
    this.plot = new uPlot(this.options(), [[0], [0], [0]], place);
    new ResizeObserver(() => this.plot.setSize(this.size())).observe(place);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.colours = palette();
      this.plot.redraw();
    });
    // Until the font is there, the labels are measured with another one.
    void document.fonts.ready.then(() => this.plot.redraw());
  }

  /** @param {import('../sale.js').Picture['sales']} sales */
  show(sales) {
    this.plot.setData(alignedSeries(sales));
  }

  size() {
    return { width: this.place.clientWidth, height: this.place.clientHeight };
  }

  /** @returns {uPlot.Options} */
  options() {
    const stepped = uPlot.paths.stepped?.({ align: 1 });
    /** @type {uPlot.Axis} */
    const axis = {
      font: FONT,
      stroke: () => this.colours.muted,
      grid: { stroke: () => this.colours.line, width: 1 },
      ticks: { show: false },
    };
    /** @type {uPlot.Series} */
    const series = { width: 3, spanGaps: true, points: { show: false }, ...(stepped && { paths: stepped }) };
    return {
      ...this.size(),
      padding: [14, 50, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false, range: (_plot, _min, max) => [0, Math.max(SHORTEST, max)] },
        y: { range: (_plot, min, max) => [Math.min(min * 1.08, -max * 0.12), Math.max(max * 1.06, 1)] },
      },
      axes: [
        { ...axis, size: 28, space: 70 },
        { ...axis, size: 52, space: 42, values: (_plot, values) => values.map(number) },
      ],
      series: [
        {},
        {
          ...series,
          dash: DASH.map((length) => length * devicePixelRatio),
          stroke: (plot) => this.split(plot, this.colours.before, this.colours.bad),
          fill: (plot) => this.split(plot, '#0000', translucent(this.colours.bad, 0.2)),
          fillTo: 0,
        },
        {
          ...series,
          stroke: () => this.colours.good,
          fill: () => translucent(this.colours.good, 0.12),
          fillTo: 0,
        },
      ],
      hooks: {
        drawClear: [(plot) => tintBelowZero(plot, this.colours)],
        draw: [(plot) => labelBelowZero(plot, this.colours), (plot) => drawEnds(plot, this.colours)],
      },
    };
  }

  /**
   * One colour above zero and another one below.
   *
   * @param {uPlot} plot
   * @param {string} above
   * @param {string} below
   */
  split(plot, above, below) {
    const { top, height } = plot.bbox;
    if (plot.scales.y?.min === undefined || !(height > 0)) return above;
    const zero = Math.min(1, Math.max(0, (plot.valToPos(0, 'y', true) - top) / height));
    const gradient = plot.ctx.createLinearGradient(0, top, 0, top + height);
    for (const [at, colour] of /** @type {const} */ ([
      [0, above],
      [zero, above],
      [zero, below],
      [1, below],
    ])) {
      gradient.addColorStop(at, colour);
    }
    return gradient;
  }
}
