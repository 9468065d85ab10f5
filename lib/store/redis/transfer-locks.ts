import type { OwnerChange, Transferred } from '../lock-store.js';
import { transferScript } from '../scripts/transfer.script.js';
import { integer, strangeReply } from './connection/script-reply.js';
import type { Outbox } from './outbox.js';

const OUTCOMES: readonly Transferred[] = ['taken', 'transferred', 'gone'];

/**
 * Transfers the locks of a hold to other owner ids. One call transfers all of them on one server. On several servers, the
 * first name decides which of several callers attaches the hold: only that one asks for the other names.
 */
export async function transferLocks(
  outbox: Outbox,
  changes: readonly OwnerChange[],
  decider: 'first' | 'last',
): Promise<Transferred> {
  const isOneServer = outbox.maxBatch === undefined;
  if (isOneServer) return transferTogether(outbox, changes);
  const [deciding, others] = [changes.slice(0, 1), changes.slice(1)];
  if (decider === 'first') {
    const outcome = await transferTogether(outbox, deciding);
    return outcome === 'transferred' ? transferEach(outbox, others) : outcome;
  }
  const outcome = await transferEach(outbox, others);
  return outcome === 'transferred' ? transferTogether(outbox, deciding) : outcome;
}

async function transferEach(outbox: Outbox, changes: readonly OwnerChange[]): Promise<Transferred> {
  const settled = await Promise.allSettled(changes.map((change) => transferTogether(outbox, [change])));
  const failed = settled.find((each) => each.status === 'rejected');
  if (failed) throw failed.reason;
  const areTransferred = settled.every((each) => each.status === 'fulfilled' && each.value === 'transferred');
  return areTransferred ? 'transferred' : 'gone';
}

async function transferTogether(outbox: Outbox, changes: readonly OwnerChange[]): Promise<Transferred> {
  const keys = changes.flatMap(({ name }) => outbox.keySpace.heldKeys(name));
  const args = changes.flatMap(({ from, to, ttl }) => [from, to, Math.ceil(ttl)]);
  const reply = await outbox.runWithoutTimeout(transferScript, keys, args);
  const outcome = OUTCOMES[integer(reply)];
  if (!outcome) throw strangeReply(reply);
  return outcome;
}
