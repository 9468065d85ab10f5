import { randomBytes } from 'node:crypto';
import type { LockLog } from '../../../diagnostics/lock-log.js';
import { LockConfigError } from '../../../errors/lock.error.js';
import type { RedisLockModuleOptions } from '../../../options/module-options.interface.js';
import type { Clock, ScheduledCall } from '../../../primitives/clock.js';
import { StoreRefusal } from '../../store-errors.js';
import { trialScript } from '../../scripts/trial.script.js';
import type { Redaction } from '../connection/redaction.js';
import { hasCode } from '../connection/redis-error.js';
import type { ScriptRunner } from '../connection/script-runner.js';
import { findings, type Findings, versionError } from './findings.js';

/** Milliseconds until an undelivered message is repeated, because its listener may be reconnecting. */
const CONFIRM_DELAY = 200;
/** Milliseconds until a trial without a reply is repeated. */
const RETRY_DELAY = 1_000;
/** Milliseconds until a server with a problem is tried again, and one whose messages arrive. */
const LOOK_AGAIN = 30_000;

/** The consequence of unreliable messages, while locks are still handed over. */
export const POLLED_INSTEAD =
  'Waiters now ask ten times a second for their locks, as with the option advanced.wake: "poll", without messages.';

const COPIED =
  'Another process has the same instance name: this machine was probably copied while the process ran. Both may hold ' +
  'the same locks, with equal fencing tokens: restart one of the processes.';

/** Milliseconds without a trial of an established connection, after one or after a message that replaces it. */
const DOUBT_INTERVAL = 1_500;
/** Maximum milliseconds of a message on an established connection. */
const DOUBT_TIMEOUT = 500;
/** Number of recent trials whose messages may still be on their way. */
const MAX_SENT = 32;

/** Number of trials, to distinguish their messages. */
let trials = 0;

/** Whether the server counts every receiver of a script's message: yes, no, or not tried yet. */
export type Receivers = 'counted' | 'uncounted' | 'untried';

export interface TrialTarget {
  /** An unused key in the slot of the channel. */
  readonly key: string;
  /** A channel on which this instance listens; '' if it listens on none. */
  readonly channel: string;
}

export interface TrialSettings {
  runnerOf(keys: readonly string[]): Pick<ScriptRunner, 'runWithoutTimeout'>;
  readonly redaction: Redaction;
  readonly clock: Clock;
  /** Maximum milliseconds of a message. */
  readonly commandTimeout: number;
  readonly log: LockLog;
  /** The effect of a finding; by default a line in the log. */
  readonly startupChecks?: RedisLockModuleOptions['startupChecks'];
  /** Address of the server for errors, without credentials. */
  readonly where: string;
  /** The consequence of unreliable messages for waiters; undefined if locks are still handed over. */
  readonly consequence?: string | undefined;
  /** Replaces the listening connection, which then begins another trial. */
  readonly replace: () => void;
  /** Called when {@link Trial.receivers} or {@link Trial.fault} has changed. */
  readonly changed: () => void;
}

/**
 * Tries a server at each connection, in one trip. The trial finds out whether a script's message reaches this instance
 * and is counted, on which the exclusion of hand-offs depends. It also checks the version, whether the server accepts
 * writes, and the rights that the other scripts need.
 *
 * Only one request is in flight, without a time limit, so that an outage accumulates none.
 */
export class Trial {
  receivers: Receivers = 'untried';
  /** Why the server cannot be used. */
  fault: LockConfigError | undefined;
  private target: (() => TrialTarget | undefined) | undefined;
  private name = '';
  private readonly sent = new Set<string>();
  /** The last trial of an established connection, or message of a request that found the instance waiting. */
  private checkedAt = -Infinity;
  private doubtedAt = -Infinity;
  /** Whether the listening connection was replaced since the last success. */
  private hasReplaced = false;
  private isHeard = false;
  private isCounted = false;
  private uncounted = 0;
  private isAsking = false;
  private isOutdated = false;
  private timer: ScheduledCall | undefined;
  private hasReportedCopy = false;
  /** The problems that were logged since the last trial without one. */
  private readonly logged = new Set<string>();

  constructor(private readonly settings: TrialSettings) {}

  /** Whether a trial has begun for the current connections. */
  get hasBegun(): boolean {
    return this.target !== undefined;
  }

  /** Whether the last result rules out messages, or the server. */
  get hasFailed(): boolean {
    return this.fault !== undefined || this.receivers === 'uncounted';
  }

  /**
   * Begins a trial of a new connection, for commands or for listening. A bad result stays until a better one arrives.
   */
  begin(target: () => TrialTarget | undefined): void {
    this.target = target;
    this.uncounted = 0;
    if (this.receivers === 'counted') this.receivers = 'untried';
    this.ask();
  }

  /**
   * Tries the listening connection again, because a message may not have arrived: it may have died without a sign, or
   * lead to another server after a failover. Hand-offs continue meanwhile.
   *
   * A replica passes on the messages of its master, which does not count their receivers: a trial notices that.
   */
  doubt(): void {
    const now = this.settings.clock.now();
    const isSure = now < this.checkedAt + DOUBT_INTERVAL && now < this.doubtedAt + LOOK_AGAIN;
    if (this.receivers !== 'counted' || this.isAsking || isSure) return;
    this.checkedAt = now;
    this.doubtedAt = now;
    this.ask();
  }

  /** Handles a message of a trial, or without a name that of a request which found this instance waiting. */
  hear(name: string): void {
    if (name === '') {
      this.checkedAt = this.settings.clock.now();
      return;
    }
    if (!this.sent.has(name)) return this.reportCopy();
    if (name !== this.name) return;
    this.isHeard = true;
    if (this.isCounted) this.pass();
  }

  /** Handles the loss of the connection on which the message would arrive. */
  end(): void {
    this.target = undefined;
    this.name = '';
    if (this.receivers === 'counted') this.receivers = 'untried';
    this.settings.clock.cancel(this.timer);
  }

  private ask(): void {
    this.settings.clock.cancel(this.timer);
    if (this.isAsking) this.isOutdated = true;
    else void this.run(this.target?.());
  }

  private askIn(delay: number): void {
    this.timer = this.settings.clock.schedule(() => this.ask(), delay);
  }

  private async run(target: TrialTarget | undefined): Promise<void> {
    // The next subscription begins another trial.
    if (!target) return this.end();
    const { key, channel } = target;
    const { redaction } = this.settings;
    // A copied process continues with the same count.
    const name = (this.name = `${++trials}-${randomBytes(6).toString('hex')}`);
    this.note(name);
    this.isHeard = this.isCounted = false;
    this.isAsking = true;
    let found: Findings | undefined;
    try {
      const runner = this.settings.runnerOf([key]);
      const reply = await runner.runWithoutTimeout(trialScript, [key], [channel, name]);
      found = findings(reply, (text) => redaction.text(text));
    } catch (error) {
      // Other errors also fail the locks, which report them. A refusal here may affect only some locks.
      if (error instanceof StoreRefusal || hasCode(error, 'MOVED')) this.complain(error.message);
    }
    this.isAsking = false;
    if (this.isOutdated) {
      this.isOutdated = false;
      return this.ask();
    }
    if (this.name !== name) return;
    // Without a subscription, a bad result would stay: nothing would lead to a better one.
    if (!this.target?.()) return this.end();
    if (!found) return this.askIn(RETRY_DELAY);
    this.report(found);
    if (channel === '') this.settle();
    else this.judge(found);
  }

  private note(name: string): void {
    this.sent.add(name);
    const [oldest = name] = this.sent;
    if (this.sent.size > MAX_SENT) this.sent.delete(oldest);
  }

  private judge({ receivers }: Findings): void {
    const { clock, commandTimeout } = this.settings;
    const isKnown = this.receivers === 'counted';
    if (typeof receivers === 'string') return this.fail(`does not publish in a script (${receivers})`);
    if (receivers === 0) {
      if (++this.uncounted === 1) return this.askIn(CONFIRM_DELAY);
      return this.replaceOrFail(
        'did not count the receivers of a script’s message, although this instance listens for it',
      );
    }
    this.isCounted = true;
    if (this.isHeard) return this.pass();
    const timeout = isKnown ? Math.min(DOUBT_TIMEOUT, commandTimeout) : commandTimeout;
    const { name } = this;
    // A blocked event loop delays the message as well.
    const judgeLater = (): void =>
      clock.afterInput(() => {
        if (name !== this.name || this.isHeard) return;
        if (!this.target?.()) return this.end();
        this.replaceOrFail(`has not delivered a script’s message within ${timeout} ms`);
      });
    this.timer = clock.schedule(judgeLater, timeout);
  }

  /** Another connection may hear: only a failure of the next one, too, is due to the server. */
  private replaceOrFail(reason: string): void {
    if (this.hasReplaced) return this.fail(reason);
    this.hasReplaced = true;
    if (this.receivers === 'counted')
      this.settings.log.warn(
        'The connection for messages of Redis has died, or leads to another server; it is replaced.',
      );
    this.settings.replace();
  }

  private pass(): void {
    const { changed, log } = this.settings;
    this.settle();
    this.hasReplaced = false;
    this.uncounted = 0;
    if (this.receivers === 'counted') return;
    if (this.receivers === 'uncounted') log.log('Locks are handed over by messages again.');
    this.receivers = 'counted';
    changed();
  }

  private fail(reason: string): void {
    const { changed, consequence = POLLED_INSTEAD, log } = this.settings;
    // A late message still counts.
    this.askIn(LOOK_AGAIN);
    if (this.receivers === 'uncounted') return;
    this.receivers = 'uncounted';
    log.warn(`Redis, or a proxy before it, ${reason}. ${consequence}`);
    changed();
  }

  private report({ risk, trouble, version }: Findings): void {
    const { changed, log, startupChecks, where } = this.settings;
    if (startupChecks !== 'off') {
      if (risk !== undefined && this.isNew(risk)) log.warn(risk);
      this.complain(trouble);
    }
    const old = versionError(version, where);
    this.complain(old?.message);
    if (risk === undefined && trouble === undefined && !old) this.endProblems();
    const found = startupChecks === 'error' ? (trouble ?? risk) : undefined;
    const fault =
      old ??
      (found === undefined
        ? undefined
        : new LockConfigError(`A check of the server at ${where} failed: ${found}`));
    if (fault?.message === this.fault?.message) return;
    this.fault = fault;
    changed();
  }

  /** Tries a server with a problem again, because the cause may have been mended. */
  private settle(): void {
    this.settings.clock.cancel(this.timer);
    if (this.logged.size > 0) this.askIn(LOOK_AGAIN);
  }

  private endProblems(): void {
    if (this.logged.size === 0) return;
    this.logged.clear();
    this.settings.log.log('The checks of Redis find no problem any more.');
  }

  /** Reports that another process listens as this instance. Its next trial tells that process, too. */
  private reportCopy(): void {
    if (this.hasReportedCopy) return;
    this.hasReportedCopy = true;
    this.settings.log.error(COPIED);
    this.ask();
  }

  /** Logs each problem once, for all connections, until a trial finds none. */
  private complain(trouble: string | undefined): void {
    if (trouble === undefined || !this.isNew(trouble)) return;
    this.settings.log.error(`Redis cannot be used for locks: ${trouble}`);
  }

  private isNew(finding: string): boolean {
    const { size } = this.logged;
    return this.logged.add(finding).size > size;
  }
}
