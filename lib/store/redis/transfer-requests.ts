import type { OwnerChange, Transferred } from '../lock-store.js';
import { transferScript } from '../scripts/transfer.script.js';
import { integer, strangeReply } from './connection/script-reply.js';
import type { Outbox } from './outbox.js';

const OUTCOMES: readonly Transferred[] = ['taken', 'moved', 'gone'];

/**
 * Moves the locks of a hold to other owner ids. One call moves all of them on one server. On several servers, the first
 * name decides which of several takers gets the hold: only that one asks for the other names.
 */
export class TransferRequests {
  /** @param isOneServer whether one call may name several locks */
  constructor(
    private readonly outbox: Outbox,
    private readonly isOneServer: boolean,
  ) {}

  async move(changes: readonly OwnerChange[], decider: 'first' | 'last'): Promise<Transferred> {
    if (this.isOneServer) return this.moveTogether(changes);
    const [deciding, others] = [changes.slice(0, 1), changes.slice(1)];
    if (decider === 'first') {
      const outcome = await this.moveTogether(deciding);
      return outcome === 'moved' ? this.moveAll(others) : outcome;
    }
    const outcome = await this.moveAll(others);
    return outcome === 'moved' ? this.moveTogether(deciding) : outcome;
  }

  private async moveAll(changes: readonly OwnerChange[]): Promise<Transferred> {
    const settled = await Promise.allSettled(changes.map((change) => this.moveTogether([change])));
    const failed = settled.find((each) => each.status === 'rejected');
    if (failed) throw failed.reason;
    const isMoved = settled.every((each) => each.status === 'fulfilled' && each.value === 'moved');
    return isMoved ? 'moved' : 'gone';
  }

  private async moveTogether(changes: readonly OwnerChange[]): Promise<Transferred> {
    const { keySpace } = this.outbox;
    const keys = changes.flatMap(({ name }) => {
      const [lock, , shared] = keySpace.keys(name);
      return [lock, shared];
    });
    const args = changes.flatMap(({ from, to, ttl }) => [from, to, Math.ceil(ttl)]);
    const reply = await this.outbox.runWithoutTimeout(transferScript, keys, args);
    const outcome = OUTCOMES[integer(reply)];
    if (!outcome) throw strangeReply(reply);
    return outcome;
  }
}
