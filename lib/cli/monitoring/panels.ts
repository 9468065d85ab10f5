/** The labels of metrics that say which code called. Methods have the first two, callers of LockService the third. */
export const CALLER = 'code_function_name, lock_key_template, lock_label';

export const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
const SHOWN = 'job=~"$job", instance=~"$instance"';

/** Unit in Grafana: `short` is a plain number. */
type Unit = 'short' | 's' | 'reqps' | 'percentunit';

/** A panel of the dashboard, without its position. */
export interface Panel {
  readonly type: string;
  readonly title: string;
  readonly [field: string]: unknown;
}

/** A metric of the shown instances, with further conditions. */
export function shown(metric: string, conditions = ''): string {
  return `${metric}{${SHOWN}${conditions === '' ? '' : `, ${conditions}`}}`;
}

export function rate(metric: string, conditions?: string): string {
  return `rate(${shown(metric, conditions)}[$__rate_interval])`;
}

export function p99(metric: string, groups = ''): string {
  const by = groups === '' ? 'le' : `${groups}, le`;
  return `histogram_quantile(0.99, sum by (${by}) (${rate(`${metric}_bucket`)}))`;
}

/** The fields that all types of panels have. */
function queryOf(expr: string, legendFormat: string): object {
  return { datasource: DATASOURCE, targets: [{ datasource: DATASOURCE, expr, legendFormat, refId: 'A' }] };
}

/** One number, coloured from `orange` and from `red` on. */
export function stat(
  title: string,
  description: string,
  expr: string,
  unit: Unit,
  { orange, red }: { orange?: number; red?: number } = {},
): Panel {
  const steps = [
    { color: 'green', value: null },
    ...(orange === undefined ? [] : [{ color: 'orange', value: orange }]),
    ...(red === undefined ? [] : [{ color: 'red', value: red }]),
  ];
  const defaults = { unit, min: 0, thresholds: { mode: 'absolute', steps }, noValue: '0' };
  const reduceOptions = { calcs: ['lastNotNull'], fields: '', values: false };
  return {
    type: 'stat',
    title,
    description,
    ...queryOf(expr, ''),
    fieldConfig: { defaults, overrides: [] },
    options: { colorMode: 'value', graphMode: 'area', reduceOptions },
  };
}

export const STACKED = { fillOpacity: 40, stacking: { mode: 'normal', group: 'A' } };
export const BARS = { fillOpacity: 60, drawStyle: 'bars' };

/** A line for each group of the expression; its labels are the legend. */
export function chart(
  title: string,
  description: string,
  expr: string,
  unit: Unit,
  style: object = {},
): Panel {
  const [, groups = ''] = /by \(([^)]*?)(?:, le)?\)/.exec(expr) ?? [];
  const legend = groups.replaceAll(/\w+/g, '{{$&}}').replaceAll(',', '');
  const custom = { lineWidth: 2, fillOpacity: 10, showPoints: 'never', spanNulls: true, ...style };
  return {
    type: 'timeseries',
    title,
    description,
    ...queryOf(expr, legend),
    fieldConfig: { defaults: { unit, min: 0, custom }, overrides: [] },
    options: {
      legend: { displayMode: 'table', placement: 'bottom', calcs: ['lastNotNull', 'max'] },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
  };
}
