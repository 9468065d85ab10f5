import type { Clock, ScheduledCall } from '../../primitives/clock.js';

/** Maximum number of remembered subjects without a majority. It exceeds the number of holds of an instance. */
const MAX_REMEMBERED = 10_000;

/** Counts the nodes that have sent a message about a subject, such as the release of a name, until a majority has. */
export class Notices {
  private readonly senders = new Map<string, Set<number>>();

  constructor(private readonly majority: number) {}

  /** Records a node's message; returns whether a majority has sent it, and then forgets the subject. */
  record(subject: string, node: number): boolean {
    const senders = this.senders.get(subject) ?? new Set();
    senders.add(node);
    this.senders.delete(subject);
    if (senders.size >= this.majority) return true;
    this.senders.set(subject, senders);
    const [oldest] = this.senders.keys();
    if (this.senders.size > MAX_REMEMBERED && oldest !== undefined) this.senders.delete(oldest);
    return false;
  }

  forget(subject: string): void {
    this.senders.delete(subject);
  }
}

/** The request for one name. */
export class Wait {
  /** Whether this instance has a place in the nodes' queues. */
  isQueued = false;
  /** The highest token that was proposed here, or is known to be accepted by a node. */
  last = 0;
  timer: ScheduledCall | undefined;

  note(token: number): void {
    this.last = Math.max(this.last, token);
  }
}

export interface WaitsSettings {
  readonly clock: Clock;
  readonly majority: number;
  /** Milliseconds after the first notification in which the other nodes can follow. */
  readonly delay: number;
  /** Called when the callers of the name should ask. */
  readonly ask: (name: string) => void;
}

/**
 * The names that this instance requests, from the first request until the grant or the leave. Each node notifies a
 * waiting instance of a release separately; a request after the first message would find the lock still taken on the
 * others.
 */
export class Waits {
  private readonly waits = new Map<string, Wait>();
  private readonly releases: Notices;

  constructor(private readonly settings: WaitsSettings) {
    this.releases = new Notices(settings.majority);
  }

  /** Begins a request, or continues that of the same name. */
  begin(name: string): Wait {
    const wait = this.waits.get(name) ?? new Wait();
    this.waits.set(name, wait);
    return wait;
  }

  /** Ends a request; returns the highest token that any node may have accepted, and that none may keep. */
  end(name: string): number {
    this.stopTimer(name);
    const { last = 0 } = this.waits.get(name) ?? {};
    this.waits.delete(name);
    return last;
  }

  /** Handles a node's notification of a release; returns false if no caller waits for the name. */
  handleRelease(node: number, name: string): boolean {
    const wait = this.waits.get(name);
    if (!wait?.isQueued) return false;
    const { clock, delay } = this.settings;
    if (this.releases.record(name, node)) this.call(name);
    else wait.timer ??= clock.schedule(() => this.call(name), delay);
    return true;
  }

  private call(name: string): void {
    this.stopTimer(name);
    this.settings.ask(name);
  }

  private stopTimer(name: string): void {
    this.releases.forget(name);
    const wait = this.waits.get(name);
    this.settings.clock.cancel(wait?.timer);
    if (wait) wait.timer = undefined;
  }
}
