/** A condition on a label, such as `lock_outcome="granted"`. */
interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

/** What a query wants of Prometheus: the series of a metric that meet all conditions. */
export interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
}

const SELECTOR = /\b(locks?_\w+)(?:\{([^}]*)\})?/g;
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g;
const GROUPING = /\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g;

/** The selectors of a query in PromQL, for metrics whose names begin with `lock_` or `locks_`. */
export function selectorsOf(query: string): readonly Selector[] {
  return [...query.replaceAll(GROUPING, '').matchAll(SELECTOR)].map(([, metric = '', conditions = '']) => ({
    metric,
    matchers: [...conditions.matchAll(MATCHER)].map(([, label = '', operator = '', value = '']) => ({
      label,
      operator,
      value,
    })),
  }));
}

/** The labels by which it groups. */
export function groupingsOf(query: string): readonly string[] {
  return [...query.matchAll(GROUPING)].flatMap(([, labels = '']) =>
    labels.split(',').map((each) => each.trim()),
  );
}

/** One line of what an application shows to Prometheus. */
export interface Series {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Prometheus adds these to whatever it scrapes. */
const TARGET_LABELS = { job: 'shop', instance: '127.0.0.1:9464' };

export function seriesOf(exposition: string): readonly Series[] {
  return [...exposition.matchAll(/^(\w+)\{(.*)\} \S+$/gm)].map(([, metric = '', labels = '']) => ({
    metric,
    labels: {
      ...TARGET_LABELS,
      ...Object.fromEntries(
        [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value]),
      ),
    },
  }));
}

/** Whether a selector selects a series. Without a label, only negative conditions on it are met, as in Prometheus. */
export function isMeant({ metric, matchers }: Selector, series: Series): boolean {
  return series.metric === metric && matchers.every((matcher) => meets(matcher, series.labels));
}

function meets({ label, operator, value }: Matcher, labels: Series['labels']): boolean {
  const actual = labels[label] ?? '';
  const isEqual = operator.endsWith('~') ? new RegExp(`^(?:${value})$`).test(actual) : actual === value;
  return operator.startsWith('!') ? !isEqual : isEqual;
}
