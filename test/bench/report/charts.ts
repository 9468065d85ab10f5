import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { init, use } from 'echarts/core';
import { BarChart } from 'echarts/charts';
import { GridComponent, TitleComponent } from 'echarts/components';
import { SVGRenderer } from 'echarts/renderers';
import type { CaseReport } from '../bench.js';
import type { RoundFigures } from '../statistics/round-figures.js';
import { spreadOf } from '../statistics/spread.js';

use([BarChart, GridComponent, TitleComponent, SVGRenderer]);

const WIDTH = 760;
const ROW_HEIGHT = 26;
const OURS = '#c0392b';
const OTHERS = '#8896a5';

interface Chart {
  readonly file: string;
  /** The case whose figures it shows. */
  readonly from: string;
  readonly title: string;
  readonly subtitle: string;
  readonly value: (round: RoundFigures) => number | undefined;
  readonly best: 'highest' | 'lowest';
}

/** What matters most to somebody who chooses a lock: how much goes through a hot name, and how long it keeps one waiting. */
const CHARTS: readonly Chart[] = [
  {
    file: 'hot-name-holds.svg',
    from: 'hot-4x25',
    title: 'Holds per second on one hot name',
    subtitle: '4 processes × 25 callers, no work inside; longer is better, logarithmic',
    value: ({ rate }) => rate,
    best: 'highest',
  },
  {
    file: 'hot-name-wait.svg',
    from: 'hot-4x25-2ms',
    title: 'Wait for one hot name, 99th percentile in milliseconds',
    subtitle:
      '4 processes × 25 callers, 2 ms of work inside; 200 ms is ideal; shorter is better, logarithmic',
    value: ({ wait }) => wait?.p99,
    best: 'lowest',
  },
];

/**
 * Draws the charts whose cases ran.
 *
 * @returns the files written
 */
export function drawCharts(reports: readonly CaseReport[], directory: string): string[] {
  mkdirSync(directory, { recursive: true });
  return CHARTS.flatMap((chart) => {
    const report = reports.find(({ name }) => name === chart.from);
    if (!report) return [];
    const file = join(directory, chart.file);
    writeFileSync(
      file,
      `${draw(chart, report.figures as Record<string, readonly RoundFigures[] | object>)}\n`,
    );
    return [file];
  });
}

function draw(chart: Chart, figures: Record<string, readonly RoundFigures[] | object>): string {
  const bars = Object.entries(figures)
    .flatMap(([id, rounds]) => {
      const value = Array.isArray(rounds) ? spreadOf(rounds.map(chart.value))?.median : undefined;
      return value === undefined ? [] : [{ id, value }];
    })
    // The axis begins at the bottom, so the best comes last.
    .toSorted((a, b) => (chart.best === 'highest' ? a.value - b.value : b.value - a.value));
  const view = init(undefined, undefined, {
    renderer: 'svg',
    ssr: true,
    width: WIDTH,
    height: 90 + ROW_HEIGHT * bars.length,
  });
  view.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    title: { text: chart.title, subtext: chart.subtitle, left: 12, top: 8 },
    grid: { left: 12, right: 70, top: 64, bottom: 12, containLabel: true },
    xAxis: { type: 'log', splitLine: { lineStyle: { color: '#eeeeee' } } },
    yAxis: { type: 'category', data: bars.map(({ id }) => id), axisTick: { show: false } },
    series: [
      {
        type: 'bar',
        barWidth: '65%',
        data: bars.map(({ id, value }) => ({
          value: Number(value.toPrecision(3)),
          itemStyle: { color: id.startsWith('ours') ? OURS : OTHERS },
        })),
        label: {
          show: true,
          position: 'right',
          formatter: ({ value }: { value: unknown }) => Number(value).toLocaleString('en'),
        },
      },
    ],
  });
  const svg = view.renderToSVGString();
  view.dispose();
  return svg;
}
