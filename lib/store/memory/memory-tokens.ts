import { blockSize, type Grant, HOLD_TOKENS } from '../grant.js';
import { sharesOf } from '../owner-id.js';

/** Mints fencing tokens that follow the clock and never repeat. */
export class MemoryTokens {
  private last = 0;

  constructor(private readonly now: () => number) {}

  mint(wanted: number, needed = 1): { token: number; tokens: number } {
    const now = this.micros();
    const tokens = blockSize(wanted, this.last - now, needed);
    const token = Math.max(this.last + 1, now);
    this.last = token + tokens - 1;
    return { token, tokens };
  }

  exclusive(instance: string, wanted: number): Grant {
    const block = this.mint(wanted);
    return { owner: `${instance}:${block.token}`, ...block };
  }

  shared(instance: string, tag: string, holds: number): Grant[] {
    return sharesOf(instance, tag, this.mint(holds * HOLD_TOKENS, holds), holds);
  }

  /**
   * The token floor. It uses up a token: unlike on Redis, a later one might be minted within the same tick of the
   * clock.
   */
  floor(): number {
    this.last = Math.max(this.last, this.micros());
    return this.last;
  }

  private micros(): number {
    return Math.floor(this.now() * 1_000);
  }
}
