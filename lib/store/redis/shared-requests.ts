import type { Shares } from '../grant.js';
import type { ShareRequest } from '../lock-store.js';
import { sharedTag, sharesOf, taggedOwner } from '../owner-id.js';
import { parsePlace } from '../place.js';
import { acquireSharedScript } from '../scripts/acquire-shared.script.js';
import { releaseByOwnerScript } from '../scripts/release-by-owner.script.js';
import { integer, isOne, list, strangeReply } from './connection/script-reply.js';
import type { Outbox } from './outbox.js';
import type { ScriptBatch } from './script-batch.js';

export class SharedRequests {
  private readonly acquires: ScriptBatch;
  private readonly releases: ScriptBatch;

  constructor(private readonly outbox: Outbox) {
    this.acquires = outbox.newAcquireBatch((content) => outbox.sendAcquires(acquireSharedScript, content));
    this.releases = outbox.newReleaseBatch((content) => outbox.sendReleases(releaseByOwnerScript, content));
  }

  acquire({ name, ttl, terms, holds, since, known, place }: ShareRequest): Promise<Shares> {
    const { keys, args } = this.acquires.content;
    const tag = sharedTag(terms);
    const claim = place === undefined ? '' : parsePlace(place).claimTtl;
    keys.push(...this.outbox.keySpace.keys(name));
    args.push(`${Math.ceil(ttl)} ${holds} ${tag} ${since} ${claim} ${known.join(',')}`);
    this.outbox.flushSoon();
    return this.acquires.join((reply) => this.answer(reply, tag));
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

  private answer(reply: unknown, tag: string): Shares {
    const { instance } = this.outbox;
    // After the reply only: a user without rights to the key of shared holders can continue to use exclusive locks.
    this.outbox.noteSharedMode();
    const [floor, first, holds, waiting, ...found] = list(reply);
    const tokenFloor = integer(floor);
    const [granted = 0, tokens = 0] = holds === '' ? [] : String(holds).split('/').map(integer);
    const earlier = found.map((token) => {
      return { owner: taggedOwner(instance, tag, integer(token)), token: integer(token), tokens: 1 };
    });
    return {
      holds: [...earlier, ...sharesOf(instance, tag, { token: integer(first), tokens }, granted)],
      tokenFloor,
      taken: waiting === '' ? undefined : this.taken(waiting, floor),
    };
  }

  private taken(waiting: unknown, floor: unknown): Shares['taken'] {
    const [, left, owner] = /^(-?\d+) (.*)$/s.exec(String(waiting)) ?? [];
    if (owner === undefined) throw strangeReply(waiting);
    return this.outbox.taken([left, owner, floor]);
  }
}
