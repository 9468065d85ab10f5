import type { Grant, SharedTerms, Taken } from '../grant.js';
import type { AcquireRequest } from '../lock-store.js';
import { sharedOwner } from '../owner-id.js';
import { parsePlace } from '../place.js';
import { acquireSharedScript } from '../scripts/acquire-shared.script.js';
import { releaseSharedScript } from '../scripts/release-shared.script.js';
import { integer, isOne, list } from './connection/script-reply.js';
import type { Outbox } from './outbox.js';
import type { ScriptBatch } from './script-batch.js';

/** Acquires and releases shared holds. */
export class SharedRequests {
  private readonly acquires: ScriptBatch;
  private readonly releases: ScriptBatch;

  constructor(private readonly outbox: Outbox) {
    this.acquires = outbox.acquires((content) => outbox.sendAcquires(acquireSharedScript, content));
    this.releases = outbox.releases((content) => outbox.sendReleases(releaseSharedScript, content));
  }

  acquire(
    { name, ttl, tokens, place }: AcquireRequest,
    { limit, turn }: SharedTerms,
  ): Promise<Grant | Taken> {
    const { keys, args } = this.acquires.content;
    const queueing = place === undefined ? undefined : parsePlace(place);
    keys.push(...this.outbox.keySpace.keys(name));
    args.push(
      `${Math.ceil(ttl)} ${tokens} ${turn} ${limit === Infinity ? '' : limit} ` +
        (queueing ? `${queueing.claimTtl}|${queueing.tokens}` : ''),
    );
    this.outbox.flushSoon();
    return this.acquires.join((reply) => this.answer(reply, turn));
  }

  release(name: string, owner: string, isAwaited: boolean): Promise<boolean> {
    const { content } = this.releases;
    content.isAwaited ||= isAwaited;
    content.keys.push(...this.outbox.keySpace.keys(name));
    content.args.push(owner);
    // Holds that began together often end together, each in a separate callback.
    this.outbox.flushAfterInput();
    return this.releases.join(isOne);
  }

  private answer(reply: unknown, turn: string): Grant | Taken {
    // After the reply only: a user without rights to the key of shared holders can continue to use exclusive locks.
    this.outbox.noteSharedMode();
    const parts = list(reply);
    return parts.length === 2 ? this.grant(parts, turn) : this.outbox.taken(parts);
  }

  private grant([token, holds]: readonly unknown[], turn: string): Grant {
    const [tokens = 0, block = tokens] = String(holds).split('/').map(integer);
    const owner = sharedOwner(this.outbox.instance, turn, 1);
    return { owner, turn, token: integer(token), tokens, block };
  }
}
