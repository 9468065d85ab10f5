import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';

/** Work that must not overlap with itself, and knows whether it did. */
@Injectable()
export class CriticalSection {
  runs = 0;
  /** How many were inside at the same time, at most. */
  most = 0;
  private inside = 0;

  async run(): Promise<number> {
    this.runs += 1;
    this.inside += 1;
    this.most = Math.max(this.most, this.inside);
    await delay(5);
    this.inside -= 1;
    return this.runs;
  }
}
