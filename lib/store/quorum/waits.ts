import type { Clock, ScheduledCall } from '../../primitives/clock.js';

interface Wait {
  /** Nodes that have told of a release since the last call. */
  readonly told: Set<number>;
  /** The highest token that any node is known to have accepted. */
  last: number;
  timer: ScheduledCall | undefined;
}

export interface WaitsSettings {
  readonly clock: Clock;
  readonly majority: number;
  /** Milliseconds that the other nodes have to tell the same as the first. */
  readonly delay: number;
  /** Whoever waits for the name should ask. */
  readonly ask: (name: string) => void;
}

/**
 * The names for which this instance stands in the nodes' queues. Each node tells of a release by itself; asking at the
 * first message would find the lock still taken on the others.
 */
export class Waits {
  private readonly waits = new Map<string, Wait>();
  private readonly proposed = new Map<string, number>();

  constructor(private readonly settings: WaitsSettings) {}

  begin(name: string): void {
    if (!this.waits.has(name)) this.waits.set(name, { told: new Set(), last: 0, timer: undefined });
  }

  end(name: string): void {
    this.settings.clock.cancel(this.waits.get(name)?.timer);
    this.waits.delete(name);
    this.proposed.delete(name);
  }

  /** One who did not want to wait has asked in vain. */
  rest(name: string): void {
    if (!this.waits.has(name)) this.proposed.delete(name);
  }

  /** A token was proposed that nobody may keep once the wait has ended. */
  propose(name: string, token: number): void {
    this.proposed.set(name, Math.max(token, this.highestOf(name)));
  }

  /** The highest token that was proposed since the name was last granted or given up. */
  highestOf(name: string): number {
    return this.proposed.get(name) ?? 0;
  }

  /** The highest token that is known to have been accepted, 0 where nobody waits. */
  lastOf(name: string): number {
    return this.waits.get(name)?.last ?? 0;
  }

  note(name: string, last: number): void {
    const wait = this.waits.get(name);
    if (wait) wait.last = Math.max(wait.last, last);
  }

  /** A node tells of a release; false when nobody here waits for the name. */
  hear(node: number, name: string, last: number): boolean {
    const wait = this.waits.get(name);
    if (!wait) return false;
    this.note(name, last);
    wait.told.add(node);
    const { clock, delay, majority } = this.settings;
    if (wait.told.size >= majority) this.call(name, wait);
    else wait.timer ??= clock.schedule(() => this.call(name, wait), delay);
    return true;
  }

  private call(name: string, wait: Wait): void {
    this.settings.clock.cancel(wait.timer);
    wait.timer = undefined;
    wait.told.clear();
    this.settings.ask(name);
  }
}
