import type { VirtualTime } from './virtual-time.js';

/** What happened in a schedule, for the reader of a failure. */
export class EventLog {
  private readonly lines: string[] = [];

  constructor(private readonly time: VirtualTime) {}

  note(who: string, what: string): void {
    this.lines.push(`${this.time.now.toFixed(1).padStart(9)}  ${who.padEnd(8)} ${what}`);
  }

  toString(): string {
    return this.lines.join('\n');
  }
}
