import type { OwnerChange, Transferred } from '../lock-store.js';
import { transferScript } from '../scripts/transfer.script.js';
import { integer, strangeReply } from './connection/script-reply.js';
import type { Outbox } from './outbox.js';

const OUTCOMES: readonly Transferred[] = ['taken', 'transferred', 'gone'];

/**
 * Transfers the locks of a hold to other owner ids. One call transfers all of them on one server. On several servers, the first
 * name decides which of several callers attaches the hold: only that one asks for the other names.
 */
export class TransferRequests {
  /** @param isOneServer whether one call may name several locks */
  constructor(
    private readonly outbox: Outbox,
    private readonly isOneServer: boolean,
  ) {}

  async transfer(changes: readonly OwnerChange[], decider: 'first' | 'last'): Promise<Transferred> {
    if (this.isOneServer) return this.transferTogether(changes);
    const [deciding, others] = [changes.slice(0, 1), changes.slice(1)];
    if (decider === 'first') {
      const outcome = await this.transferTogether(deciding);
      return outcome === 'transferred' ? this.transferEach(others) : outcome;
    }
    const outcome = await this.transferEach(others);
    return outcome === 'transferred' ? this.transferTogether(deciding) : outcome;
  }

  private async transferEach(changes: readonly OwnerChange[]): Promise<Transferred> {
    const settled = await Promise.allSettled(changes.map((change) => this.transferTogether([change])));
    const failed = settled.find((each) => each.status === 'rejected');
    if (failed) throw failed.reason;
    const areTransferred = settled.every(
      (each) => each.status === 'fulfilled' && each.value === 'transferred',
    );
    return areTransferred ? 'transferred' : 'gone';
  }

  private async transferTogether(changes: readonly OwnerChange[]): Promise<Transferred> {
    const { keySpace } = this.outbox;
    const keys = changes.flatMap(({ name }) => keySpace.heldKeys(name));
    const args = changes.flatMap(({ from, to, ttl }) => [from, to, Math.ceil(ttl)]);
    const reply = await this.outbox.runWithoutTimeout(transferScript, keys, args);
    const outcome = OUTCOMES[integer(reply)];
    if (!outcome) throw strangeReply(reply);
    return outcome;
  }
}
