import { CALLER } from './panels.js';

const BY_CALLER = `by (job, ${CALLER})`;
/** Names the caller in a summary: a method, or the label of a caller of LockService. */
const NAME = '{{ $labels.code_function_name }}{{ $labels.lock_label }}';

/**
 * The alert rules for Prometheus in YAML, by the metrics of `nest-redis-lock/opentelemetry`.
 *
 * @param runbook address of the runbook; without it, the alerts have no `runbook_url`
 */
export function alertRules(runbook: string | undefined): string {
  return RULES.replaceAll(/\n +runbook_url: (#\S+)/g, (line, section: string) =>
    runbook === undefined ? '' : line.replace(section, `${runbook}${section}`),
  );
}

const RULES = `# Prometheus alert rules for nest-redis-lock, by the metrics of nest-redis-lock/opentelemetry.
#
# The runbook says what to do about each. The thresholds are for the default options, ttl 30 s and wait
# 10 s: lower them if yours are shorter. \`unless … offset\` finds a new series, whose first increase() is 0.
groups:
  - name: nest-redis-lock
    rules:
      - alert: LockHoldLost
        expr: |
          increase(lock_lost_total{lock_lost_reason!="shutdown"}[10m]) > 0
          or (lock_lost_total{lock_lost_reason!="shutdown"} unless lock_lost_total offset 10m)
        labels:
          severity: critical
        annotations:
          summary: 'A hold was lost ({{ $labels.lock_lost_reason }}): ${NAME}'
          description: >-
            On {{ $labels.instance }} a hold of {{ $labels.lock_key_template }} ended before its work did. Two holders
            may have worked at the same time. Reason: {{ $labels.lock_lost_reason }}.
          runbook_url: #holds-are-lost

      - alert: LockStuck
        expr: |
          sum ${BY_CALLER} (lock_queue_length{lock_label!~"leader.*"}) > 0
          unless
          sum ${BY_CALLER} (
            rate(lock_wait_duration_count{lock_outcome="granted"}[5m])
          ) > 0
        for: 5m
        labels:
          severity: critical
        annotations:
          summary: 'Calls wait and none is granted: ${NAME}'
          description: >-
            Calls have waited for {{ $labels.lock_key_template }} for five minutes, and none was granted. The holder
            hangs, or never releases.
          runbook_url: #a-lock-hangs

      # Leaders have the label leader. Exclude other long work by its method or label, or raise the threshold.
      - alert: LockHoldHangs
        expr: |
          max by (job, instance, ${CALLER}) (
            locks_oldest_hold_age{lock_label!~"leader.*"}
          ) > 900
        for: 1m
        labels:
          severity: warning
        annotations:
          summary: 'A hold does not end: ${NAME}'
          description: >-
            On {{ $labels.instance }} a hold of {{ $labels.lock_key_template }} is {{ $value | humanizeDuration }} old.
            Its lease is renewed, so the name stays taken until it is released.
          runbook_url: #a-lock-hangs

      - alert: LockWaitsGrow
        expr: |
          histogram_quantile(
            0.95,
            sum by (job, ${CALLER}, le) (rate(lock_wait_duration_bucket[5m]))
          ) > 5
        for: 5m
        labels:
          severity: warning
        annotations:
          summary: 'Long waits: ${NAME}'
          description: >-
            One in twenty calls has waited for {{ $labels.lock_key_template }} for more than
            {{ $value | humanizeDuration }}.
          runbook_url: #waits-grow

      # Counts waits of more than 2.5 s, because a call with wait 0 may find the lock taken without a problem.
      - alert: LockWaitsTimeOut
        expr: |
          (
            sum ${BY_CALLER} (
              rate(lock_wait_duration_count{lock_outcome="timeout"}[5m])
            )
            - sum ${BY_CALLER} (
              rate(lock_wait_duration_bucket{lock_outcome="timeout", le="2.5"}[5m])
            )
          )
          / sum ${BY_CALLER} (rate(lock_wait_duration_count[5m]))
          > 0.05
        for: 5m
        labels:
          severity: warning
        annotations:
          summary: 'Calls time out: ${NAME}'
          description: >-
            {{ $value | humanizePercentage }} of the calls for {{ $labels.lock_key_template }} time out.
          runbook_url: #waits-grow

      # Does not page: maxWaiters rejects these calls on purpose.
      - alert: LockQueueFull
        expr: |
          sum ${BY_CALLER} (
            rate(lock_wait_duration_count{lock_outcome="failed", error_type="LOCK_QUEUE_FULL"}[5m])
          ) > 0
        for: 1m
        labels:
          severity: info
        annotations:
          summary: 'Too many calls wait: ${NAME}'
          description: >-
            Calls for {{ $labels.lock_key_template }} are rejected, because as many wait as maxWaiters allows.
          runbook_url: #waits-grow

      - alert: LockRedisUnavailable
        expr: |
          sum by (job) (
            rate(lock_wait_duration_count{lock_outcome="failed", error_type="LOCK_UNAVAILABLE"}[5m])
          ) > 0
        for: 1m
        labels:
          severity: critical
        annotations:
          summary: 'Redis cannot be used for locks: {{ $labels.job }}'
          description: >-
            Calls are rejected with LockUnavailableError: Redis does not reply, replies with an error, or fails over.
          runbook_url: #failover

      - alert: LockRenewalsLate
        expr: |
          histogram_quantile(0.99, sum by (job, instance, le) (rate(lock_renewal_lag_bucket[5m]))) > 5
        for: 1m
        labels:
          severity: warning
        annotations:
          summary: 'Leases are renewed late on {{ $labels.instance }}'
          description: >-
            Replies arrive {{ $value | humanizeDuration }} after renewals are due. At two thirds of ttl, leases expire
            and holds are lost.
          runbook_url: #holds-are-lost

      - alert: LockRenewalsUnanswered
        expr: |
          sum by (job, instance) (rate(lock_renewal_lag_count{lock_outcome="unanswered"}[5m])) > 0
        for: 2m
        labels:
          severity: warning
        annotations:
          summary: 'Renewals have no reply on {{ $labels.instance }}'
          description: Redis does not reply in time, or not at all. If this continues, leases expire.
          runbook_url: #failover
`;
