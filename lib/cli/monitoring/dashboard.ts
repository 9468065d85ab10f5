import { BARS, CALLER, chart, DATASOURCE, p99, type Panel, rate, shown, STACKED, stat } from './panels.js';

const GRANTED = 'lock_outcome="granted"';
const NO_LEADER = 'lock_label!~"leader.*"';

const ROWS: readonly (readonly Panel[])[] = [
  [
    stat('Waiting now', 'Calls that wait for a lock.', `sum(${shown('lock_queue_length')})`, 'short', {
      orange: 100,
      red: 1_000,
    }),
    stat(
      'Wait, p99',
      'Of calls whose wait has ended, whatever the outcome.',
      p99('lock_wait_duration'),
      's',
      {
        orange: 1,
        red: 5,
      },
    ),
    stat('Held now', 'Holds that have not ended.', `sum(${shown('locks_held')})`, 'short'),
    stat(
      'Oldest hold',
      'Age of the oldest hold, leaders excepted.',
      `max(${shown('locks_oldest_hold_age', NO_LEADER)})`,
      's',
      { orange: 300, red: 900 },
    ),
    stat(
      'Holds lost',
      'Holds in the shown range that ended before their release.',
      `sum(increase(${shown('lock_lost_total', 'lock_lost_reason!="shutdown"')}[$__range]))`,
      'short',
      { red: 1 },
    ),
    stat(
      'Timed out',
      'Share of calls that did not acquire the lock within their wait.',
      `sum(${rate('lock_wait_duration_count', 'lock_outcome="timeout"')}) / sum(${rate('lock_wait_duration_count')})`,
      'percentunit',
      { orange: 0.05, red: 0.25 },
    ),
    stat(
      'Redis unavailable',
      'Calls per second that failed with LockUnavailableError.',
      `sum(${rate('lock_wait_duration_count', 'lock_outcome="failed", error_type="LOCK_UNAVAILABLE"')})`,
      'reqps',
      { red: 0.001 },
    ),
    stat(
      'Renewal lag, p99',
      'Time from when a renewal was due to its reply. The lease expires at two thirds of ttl, by default 20 s.',
      p99('lock_renewal_lag'),
      's',
      { orange: 2.5, red: 10 },
    ),
  ],
  [
    chart(
      'Calls by outcome',
      'Calls per second: granted, timed out, failed. shared: received the result of another run of once().',
      `sum by (lock_outcome, error_type) (${rate('lock_wait_duration_count')})`,
      'reqps',
      STACKED,
    ),
    chart(
      'Grants by origin',
      'free: the lock was free. local: passed on within the process. hand-off: by another instance. ' +
        're-ask: found free on asking again, after a holder died or a message was lost.',
      `sum by (lock_granted_how) (${rate('lock_wait_duration_count', GRANTED)})`,
      'reqps',
      STACKED,
    ),
    chart(
      'Calls of once, by outcome',
      'ran: ran the work. shared: waited for the result of another run. kept: found a kept result. failed: nothing is kept.',
      `sum by (lock_outcome) (${rate('lock_once_total')})`,
      'reqps',
      STACKED,
    ),
  ],
  [
    chart(
      'Waiting now, by caller',
      'Methods of @Locked and @Once by name and key template, callers of LockService by label.',
      `sum by (${CALLER}) (${shown('lock_queue_length')})`,
      'short',
    ),
    chart(
      'Wait, by caller',
      '99 of 100 calls waited for at most this time.',
      p99('lock_wait_duration', CALLER),
      's',
    ),
  ],
  [
    chart(
      'Held now, by caller',
      'Holds that have not ended.',
      `sum by (${CALLER}) (${shown('locks_held')})`,
      'short',
    ),
    chart(
      'Oldest hold, by caller',
      'A line that rises without end is a hold that hangs, or a leader.',
      `max by (${CALLER}) (${shown('locks_oldest_hold_age')})`,
      's',
    ),
  ],
  [
    chart(
      'Hold, by caller',
      '99 of 100 holds lasted at most this time. A hold counts when it ends.',
      p99('lock_hold_duration', CALLER),
      's',
    ),
    chart(
      'Time under a lock',
      'Mean number of simultaneous holds: near 1 where a single name is always held.',
      `sum by (${CALLER}) (${rate('lock_hold_duration_sum')})`,
      'short',
    ),
  ],
  [
    chart(
      'Holds lost, by reason',
      'expired: no reply for a whole lease. gone: Redis has lost the lock. forced: an operator released it. ' +
        'max-hold: it exceeded maxHold.',
      `sum by (lock_lost_reason, ${CALLER}) (increase(${shown('lock_lost_total')}[$__rate_interval]))`,
      'short',
      BARS,
    ),
    chart(
      'Renewal lag, by instance',
      'Time from when a renewal was due to its reply; 99 of 100 renewals.',
      p99('lock_renewal_lag', 'instance'),
      's',
    ),
    chart(
      'Renewals without a reply',
      'Requests per second; each is retried after commandTimeout.',
      `sum by (instance) (${rate('lock_renewal_lag_count', 'lock_outcome="unanswered"')})`,
      'reqps',
    ),
  ],
  [
    chart(
      'Waiting now, by instance',
      'If one instance is far above the others, look at its event loop and its connection.',
      `sum by (instance) (${shown('lock_queue_length')})`,
      'short',
    ),
    chart(
      'Grants, by instance',
      'Grants per second.',
      `sum by (instance) (${rate('lock_wait_duration_count', GRANTED)})`,
      'reqps',
    ),
  ],
];

/** Number of columns of a dashboard in Grafana. */
const COLUMNS = 24;

function placed(rows: readonly (readonly Panel[])[]): object[] {
  let y = 0;
  const panels = rows.flatMap((row) => {
    const w = COLUMNS / row.length;
    const h = row.every(({ type }) => type === 'stat') ? 4 : 9;
    const placedRow = row.map((each, i) => ({ ...each, gridPos: { x: i * w, y, w, h } }));
    y += h;
    return placedRow;
  });
  return panels.map((each, i) => ({ ...each, id: i + 1 }));
}

function variable(name: string, label: string, query: string): object {
  return {
    name,
    label,
    type: 'query',
    datasource: DATASOURCE,
    query: { query, refId: name },
    definition: query,
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: { selected: true, text: ['All'], value: ['$__all'] },
  };
}

/** Returns the dashboard for Grafana, by the metrics of `nest-redis-lock/opentelemetry`. */
export function dashboard(): object {
  return {
    title: 'nest-redis-lock',
    uid: 'nest-redis-lock',
    description: 'Locks of nest-redis-lock, from the metrics of nest-redis-lock/opentelemetry.',
    tags: ['nest-redis-lock', 'redis'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    timezone: 'browser',
    templating: {
      list: [
        {
          name: 'datasource',
          label: 'Prometheus',
          type: 'datasource',
          query: 'prometheus',
          refresh: 1,
          hide: 0,
        },
        variable('job', 'Job', 'label_values(lock_wait_duration_count, job)'),
        variable('instance', 'Instance', 'label_values(lock_wait_duration_count{job=~"$job"}, instance)'),
      ],
    },
    annotations: { list: [] },
    links: [],
    panels: placed(ROWS),
  };
}
