import type { Clock, ScheduledCall } from '../../primitives/clock.js';

interface Wait {
  /** Nodes that have notified of a release since the last call of `ask`. */
  readonly notified: Set<number>;
  /** The highest token that any node is known to have accepted. */
  last: number;
  timer: ScheduledCall | undefined;
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
 * The names for which this instance waits in the nodes' queues. Each node notifies of a release separately; a request
 * after the first message would find the lock still taken on the others.
 */
export class Waits {
  private readonly waits = new Map<string, Wait>();
  private readonly proposed = new Map<string, number>();

  constructor(private readonly settings: WaitsSettings) {}

  begin(name: string): void {
    if (!this.waits.has(name)) this.waits.set(name, { notified: new Set(), last: 0, timer: undefined });
  }

  end(name: string): void {
    this.settings.clock.cancel(this.waits.get(name)?.timer);
    this.waits.delete(name);
    this.proposed.delete(name);
  }

  /** Handles a single attempt that found the name taken. */
  endAttempt(name: string): void {
    if (!this.waits.has(name)) this.proposed.delete(name);
  }

  /** Records a proposed token, which no node may keep when the wait has ended. */
  propose(name: string, token: number): void {
    this.proposed.set(name, Math.max(token, this.highestOf(name)));
  }

  /** The highest token proposed since the name was last granted or left. */
  highestOf(name: string): number {
    return this.proposed.get(name) ?? 0;
  }

  /** The highest token known to be accepted; 0 without a wait. */
  lastOf(name: string): number {
    return this.waits.get(name)?.last ?? 0;
  }

  note(name: string, last: number): void {
    const wait = this.waits.get(name);
    if (wait) wait.last = Math.max(wait.last, last);
  }

  /** Handles a node's notification of a release; returns false if no caller waits for the name. */
  handleRelease(node: number, name: string, last: number): boolean {
    const wait = this.waits.get(name);
    if (!wait) return false;
    this.note(name, last);
    wait.notified.add(node);
    const { clock, delay, majority } = this.settings;
    if (wait.notified.size >= majority) this.call(name, wait);
    else wait.timer ??= clock.schedule(() => this.call(name, wait), delay);
    return true;
  }

  private call(name: string, wait: Wait): void {
    this.settings.clock.cancel(wait.timer);
    wait.timer = undefined;
    wait.notified.clear();
    this.settings.ask(name);
  }
}
