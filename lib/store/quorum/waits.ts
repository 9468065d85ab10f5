import type { Clock, ScheduledCall } from '../../primitives/clock.js';
import { Notices } from './notices.js';

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

  end(name: string): void {
    this.stopTimer(name);
    this.waits.delete(name);
  }

  /** The highest token that any node may have accepted, and that none may keep at the end of the wait. */
  lastOf(name: string): number {
    return this.waits.get(name)?.last ?? 0;
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
