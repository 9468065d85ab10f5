import { blockSize } from '../block-size.js';
import type { Grant } from '../grant.js';
import { sharedOwner } from '../owner-id.js';
import { tokensEach } from '../turn-name.js';

/** Most fencing tokens of a shared grant that has more than one for each hold. */
const MAX_BLOCK = 4_096;

/** Fencing tokens that follow the clock and never repeat. */
export class MemoryTokens {
  private last = 0;

  /** @param now the time in milliseconds since 1970 */
  constructor(private readonly now: () => number) {}

  mint(wanted: number, needed = 1): { token: number; tokens: number } {
    const now = this.micros();
    const tokens = blockSize(wanted, this.last - now, needed);
    const token = Math.max(this.last + 1, now);
    this.last = token + tokens - 1;
    return { token, tokens };
  }

  /** A grant of a lock alone. */
  exclusive(instance: string, wanted: number): Grant {
    const block = this.mint(wanted);
    return { owner: `${instance}:${block.token}`, ...block };
  }

  /** So many holds of a turn; those whose answer went missing get tokens anew. */
  shared(instance: string, turn: string, wanted: number): Grant {
    const block = Math.max(wanted, Math.min(wanted * tokensEach(turn), MAX_BLOCK));
    const { token, tokens } = this.mint(block, wanted);
    return { owner: sharedOwner(instance, turn, 1), turn, token, tokens: wanted, block: tokens };
  }

  /** Counts as a token: unlike on Redis, a later one might be minted within the same tick of the clock. */
  floor(): number {
    this.last = Math.max(this.last, this.micros());
    return this.last;
  }

  private micros(): number {
    return Math.floor(this.now() * 1_000);
  }
}
