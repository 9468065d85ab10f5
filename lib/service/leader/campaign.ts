import type { Clock } from '../../primitives/clock.js';
import { onAbort } from '../../primitives/abandonment.js';
import { stackOf } from '../../primitives/message-of.js';
import { inRootContext } from '../../primitives/root-context.js';
import { tryTo } from '../../primitives/try-to.js';
import { CombinedLock } from '../../engine/hold/combined-lock.js';
import { isLockError } from '../../errors/lock.error.js';
import type { ReusableLock } from '../../engine/hold/reentry.js';
import type { LeadOptions } from '../../options/lead-options.js';
import type { LockLog } from '../../diagnostics/lock-log.js';

/** The lock of the leader's work. Its signal also aborts when the campaign ends. */
class Term extends CombinedLock {
  private readonly over = new AbortController();
  private readonly stops: readonly (() => void)[];

  constructor(hold: ReusableLock, campaign: AbortSignal) {
    super([hold]);
    this.stops = [hold.signal, campaign].map((signal) => {
      const stepDown = (): void => inRootContext(() => this.over.abort(signal.reason));
      if (signal.aborted) stepDown();
      return onAbort(signal, stepDown);
    });
  }

  override get signal(): AbortSignal {
    return this.over.signal;
  }

  /**
   * Whether an error of the work is the response to the aborted signal: its reason, an error caused by it, or an
   * AbortError.
   */
  isEndedBy(error: unknown): boolean {
    const { aborted, reason } = this.signal;
    if (isLockError(error) && error.code === 'LOCK_LOST' && error.keys.some((key) => this.keys.includes(key)))
      return true;
    const isResponse = (): boolean => {
      // Not by instanceof: in Jest, errors of Node have another class.
      const { cause, name } = Object(error) as Partial<Error>;
      return error === reason || cause === reason || name === 'AbortError';
    };
    return aborted && tryTo(isResponse) === true;
  }

  /** Removes the listeners of the signal. */
  end(): void {
    for (const stop of this.stops) stop();
  }
}

/** Settings of a campaign. */
export interface CampaignSettings {
  readonly name: string;
  /** Ends the campaign when it aborts. */
  readonly signal: AbortSignal;
  readonly pause: number;
  readonly onError: LeadOptions['onError'];
  readonly clock: Clock;
  readonly log: LockLog;
  readonly acquire: (signal: AbortSignal) => Promise<ReusableLock>;
  readonly work: (term: Term) => unknown;
}

/**
 * Errors of an acquire after which a retry may succeed: Redis is down, rejects requests or is too old, or the queue is
 * full.
 */
const PASSING: ReadonlySet<string> = new Set([
  'LOCK_UNAVAILABLE',
  'LOCK_CONFIG',
  'LOCK_QUEUE_FULL',
  'LOCK_TIMEOUT',
]);

/**
 * Serves one term after the other for one name, until its signal aborts.
 *
 * A term ends when its work has settled. While work that has lost its hold is still running, this instance does not
 * campaign.
 */
export class Campaign {
  /** The problem of the last acquire, which is logged once. */
  private obstacle: string | undefined;

  constructor(private readonly settings: CampaignSettings) {}

  /** Resolves when the signal has aborted and no work is running; rejects with errors that a retry cannot fix. */
  async run(): Promise<void> {
    const { signal } = this.settings;
    while (!signal.aborted) {
      const hold = await this.win();
      if (hold) await this.serve(hold);
      await this.rest();
    }
  }

  private async win(): Promise<ReusableLock | undefined> {
    const { acquire, signal } = this.settings;
    try {
      const hold = await acquire(signal);
      this.obstacle = undefined;
      return hold;
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!isLockError(error) || !PASSING.has(error.code)) throw error;
      this.noteObstacle(error);
      return undefined;
    }
  }

  private noteObstacle({ message, cause }: Error): void {
    const problem = cause instanceof Error ? `${message} ${cause.message}` : message;
    if (problem === this.obstacle) return;
    this.obstacle = problem;
    this.settings.log.warn(`The campaign for ${this.settings.name} failed, and is repeated. ${problem}`);
  }

  private async serve(hold: ReusableLock): Promise<void> {
    const { signal, work } = this.settings;
    const term = new Term(hold, signal);
    try {
      if (!signal.aborted) await work(term);
    } catch (error) {
      if (!term.isEndedBy(error)) await this.report(error);
    } finally {
      term.end();
      await this.release(hold);
    }
  }

  /** Releases the hold. Reports it as lost if a nested call kept it for too long after the work had ended. */
  private async release(hold: ReusableLock): Promise<void> {
    const { held } = hold;
    await hold.release();
    try {
      if (held) hold.assertNotLost();
    } catch (error) {
      await this.report(error);
    }
  }

  /** Awaits `onError`, because its unhandled rejection would end the process. */
  private async report(error: unknown): Promise<void> {
    const { log, name, onError } = this.settings;
    if (onError) return onError(error);
    log.error(`The leader's work under ${name} failed; this instance campaigns again. ${stackOf(error)}`);
  }

  private rest(): Promise<void> {
    const { clock, pause, signal } = this.settings;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        clock.cancel(timer);
        stop();
        resolve();
      };
      const timer = clock.schedule(end, pause * (0.5 + Math.random()));
      const stop = onAbort(signal, end);
    });
  }
}
