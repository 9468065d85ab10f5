import type { LockLog } from '../../../diagnostics/lock-log.js';
import type { LockConfigError } from '../../../errors/lock-config.error.js';
import type { Clock, ScheduledCall } from '../../../primitives/clock.js';
import { StoreRefusal } from '../../store-errors.js';
import { trialScript } from '../../scripts/trial.script.js';
import type { Redaction } from '../connection/redaction.js';
import type { Scripts } from '../connection/script-runner.js';
import { findings, type Findings, versionError } from './findings.js';

/** Milliseconds until a message that nobody got is followed by another one: its listener may just be moving. */
const CONFIRM_DELAY = 200;
/** Milliseconds after a trial without an answer. */
const RETRY_DELAY = 1_000;
/** Milliseconds until a server that was found wanting is tried again. */
const LOOK_AGAIN = 30_000;

/** What follows where messages cannot be relied on, and locks are handed over all the same. */
export const POLLED_INSTEAD =
  'So waiters ask ten times a second for their locks, as with the option advanced.wake: "poll", and nobody is told of them.';

/** Tells the messages of trials apart. */
let trials = 0;

/**
 * Whether it can be relied on that whoever gets a message of a script is counted: so it is, so it was not, or nobody has
 * found out yet.
 */
export type Counting = 'counted' | 'uncounted' | 'untried';

/** What is tried. */
export interface TrialTarget {
  /** A key that nobody uses, in the slot of the channel. */
  readonly key: string;
  /** A channel on which this instance listens; '' while it listens on none. */
  readonly channel: string;
}

export interface TrialSettings {
  readonly scripts: Pick<Scripts, 'runPatiently'>;
  readonly redaction: Redaction;
  readonly clock: Clock;
  /** Milliseconds that a message may take. */
  readonly patience: number;
  readonly log: LockLog;
  /** The server, for errors; without credentials. */
  readonly where: string;
  /** What follows for waiters where messages cannot be relied on; left out where locks are handed over all the same. */
  readonly consequence?: string;
  /** {@link Trial.counting} or {@link Trial.fault} has changed. */
  readonly changed: () => void;
}

/**
 * Tries a server, in one trip, for each connection anew: whether a script's message reaches this instance and is counted,
 * which exclusion rests on when locks are handed over; further its version, whether it takes writes, and whether the user
 * has the rights that the other scripts need.
 *
 * One request at a time, whose answer is waited for however long it takes, so that an outage heaps none up.
 */
export class Trial {
  counting: Counting = 'untried';
  /** Why the server cannot be used at all. */
  fault: LockConfigError | undefined;
  private target: (() => TrialTarget | undefined) | undefined;
  private name = '';
  private isHeard = false;
  private isCounted = false;
  private uncounted = 0;
  private isAsking = false;
  private isOutdated = false;
  private timer: ScheduledCall | undefined;
  private warned = false;
  private readonly told = new Set<string>();

  constructor(private readonly settings: TrialSettings) {}

  /** Whether it has begun for the connections that there are. */
  get hasBegun(): boolean {
    return this.target !== undefined;
  }

  /** There is a new connection, for commands or to listen. A bad verdict stands until there is a better one. */
  begin(target: () => TrialTarget | undefined): void {
    this.target = target;
    this.uncounted = 0;
    if (this.counting === 'counted') this.counting = 'untried';
    this.ask();
  }

  /** A message of a trial has come. */
  hear(name: string): void {
    if (name !== this.name) return;
    this.isHeard = true;
    if (this.isCounted) this.pass();
  }

  /** The connection on which the message would come is lost. */
  end(): void {
    this.target = undefined;
    this.name = '';
    if (this.counting === 'counted') this.counting = 'untried';
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
    if (!target) return;
    const { key, channel } = target;
    const { redaction, scripts } = this.settings;
    const name = (this.name = `${++trials}`);
    this.isHeard = this.isCounted = false;
    this.isAsking = true;
    let found: Findings | undefined;
    try {
      const reply = await scripts.runPatiently(trialScript, [key], [channel, name]);
      found = findings(reply, (text) => redaction.text(text));
    } catch (error) {
      // Otherwise locks are not answered either, and say why; some may go well without what is refused here.
      if (error instanceof StoreRefusal) this.complain(error.message);
    }
    this.isAsking = false;
    if (this.isOutdated) {
      this.isOutdated = false;
      return this.ask();
    }
    if (this.name !== name) return;
    if (!found) return this.askIn(RETRY_DELAY);
    this.report(found);
    if (channel !== '') this.judge(found);
  }

  private judge({ receivers }: Findings): void {
    const { patience } = this.settings;
    if (typeof receivers === 'string') return this.fail(`refuses to publish in a script (${receivers})`);
    if (receivers === 0) {
      if (++this.uncounted === 1) return this.askIn(CONFIRM_DELAY);
      return this.fail('counted nobody who got a script’s message, though this instance listens for it');
    }
    this.isCounted = true;
    if (this.isHeard) return this.pass();
    this.timer = this.settings.clock.schedule(
      () => this.fail(`has not delivered a script’s message within ${patience} ms`),
      patience,
    );
  }

  private pass(): void {
    const { changed, clock, log } = this.settings;
    clock.cancel(this.timer);
    if (this.counting === 'counted') return;
    this.counting = 'counted';
    if (this.warned) log.log('Locks are handed over by messages again.');
    this.warned = false;
    changed();
  }

  private fail(reason: string): void {
    const { changed, consequence = POLLED_INSTEAD, log } = this.settings;
    // Should the message come late, it is as good.
    this.askIn(LOOK_AGAIN);
    if (!this.warned) log.warn(`Redis, or a proxy before it, ${reason}. ${consequence}`);
    this.warned = true;
    if (this.counting === 'uncounted') return;
    this.counting = 'uncounted';
    changed();
  }

  private report({ trouble, version }: Findings): void {
    const fault = versionError(version, this.settings.where);
    this.complain(trouble);
    this.complain(fault?.message);
    if (fault?.message === this.fault?.message) return;
    this.fault = fault;
    this.settings.changed();
  }

  /** Each trouble once, whatever number of connections meets it. */
  private complain(trouble: string | undefined): void {
    if (trouble === undefined || this.told.has(trouble)) return;
    this.told.add(trouble);
    this.settings.log.error(`Redis cannot be used for locks: ${trouble}`);
  }
}
