import { type Grant, remainingIn, SHARED_OWNER, type Shares, type Taken } from '../grant.js';
import type { AcquireRequest, Gap, ShareRequest, YieldRequest } from '../lock-store.js';
import { digitsIn, sharedTag, sharesOf, taggedOwner } from '../owner-id.js';
import { parsePlace } from '../place.js';
import { acquireSharedScript } from '../scripts/acquire-shared.script.js';
import { acquireScript } from '../scripts/acquire.script.js';
import { releaseByOwnerScript } from '../scripts/release-by-owner.script.js';
import { releaseScript } from '../scripts/release.script.js';
import { yieldScript } from '../scripts/yield.script.js';
import { integer, list, strangeReply, text } from './connection/script-reply.js';
import type { RunArguments } from './connection/script-runner.js';
import type { Outbox } from './outbox.js';
import type { ScriptBatch } from './script-batch.js';

/** Requests locks and shared holds, and ends them. The requests of one tick to the same script share a call. */
export class LockRequests {
  private readonly acquires: ScriptBatch;
  private readonly shares: ScriptBatch;
  private readonly releases: ScriptBatch;
  private readonly releasesByOwner: ScriptBatch;

  constructor(private readonly outbox: Outbox) {
    this.acquires = outbox.newAcquireBatch(async (content) => {
      const reply = await outbox.sendAcquires(acquireScript, content);
      if (Array.isArray(reply)) return reply;
      const first = integer(reply);
      return content.args.map((_, i) => first + i);
    });
    this.shares = outbox.newAcquireBatch((content) => outbox.sendAcquires(acquireSharedScript, content));
    this.releases = outbox.newReleaseBatch(async (content) => {
      const reply = await outbox.sendReleases(releaseScript, content, outbox.instance);
      return Array.isArray(reply) ? reply : content.args.map(() => reply);
    });
    this.releasesByOwner = outbox.newReleaseBatch((content) =>
      outbox.sendReleases(releaseByOwnerScript, content),
    );
  }

  acquire(request: AcquireRequest): Promise<Grant | Taken> {
    const { outbox } = this;
    const { keys, args } = this.acquires.content;
    outbox.noteEndedToken(request.endedToken);
    outbox.pushKeys(keys, request.name);
    args.push(this.argument(request));
    outbox.flushSoon();
    return this.acquires.join((reply) => this.answer(reply, request.tokens));
  }

  share({ name, ttl, terms, holds, since, known, place, endedToken }: ShareRequest): Promise<Shares> {
    const { outbox } = this;
    const { keys, args } = this.shares.content;
    const tag = sharedTag(terms);
    const claim = place === undefined ? '' : parsePlace(place).claimTtl;
    outbox.noteEndedToken(endedToken);
    keys.push(...outbox.keySpace.keys(name));
    args.push(`${Math.ceil(ttl)} ${holds} ${tag} ${since} ${claim} ${known.join(',')}`);
    outbox.flushSoon();
    return this.shares.join((reply) => this.sharesIn(reply, tag));
  }

  async yield({ name, owner, ttl, tokens, place }: YieldRequest): Promise<Grant | Taken | undefined> {
    const call = this.endOfTurn(name, owner, place, Math.ceil(ttl), tokens);
    const reply = await this.outbox.runWithoutTimeout(...call);
    return reply === null ? undefined : this.answer(list(reply), tokens);
  }

  async releaseWithGap(name: string, owner: string, { length, memory, place }: Gap): Promise<boolean> {
    const call = this.endOfTurn(name, owner, place, 'gap', `${length} ${memory}`);
    return (await this.outbox.run(...call)) !== null;
  }

  release(name: string, owner: string, isAwaited: boolean): Promise<boolean> {
    const { outbox } = this;
    const isOfQueue = owner[outbox.instance.length] === ':';
    const releases = isOfQueue ? this.releases : this.releasesByOwner;
    const { content } = releases;
    content.isAwaited ||= isAwaited;
    if (isOfQueue) {
      outbox.pushKeys(content.keys, name);
      content.args.push(digitsIn(owner));
      outbox.flushSoon();
    } else {
      content.keys.push(...outbox.keySpace.keys(name));
      content.args.push(owner);
      // Holds that began together often end together, each in a separate callback.
      outbox.flushAfterInput();
    }
    return releases.join((reply) => this.isReleased(reply));
  }

  private endOfTurn(
    name: string,
    owner: string,
    place = '',
    ...how: readonly (string | number)[]
  ): RunArguments {
    const { outbox } = this;
    const keys: string[] = [];
    outbox.pushKeys(keys, name);
    return [yieldScript, outbox.withFence(keys), [owner, outbox.prefixes(keys), place, ...how]];
  }

  /** Formats a request as one argument, because most requests of a batch share it. */
  private argument({ ttl, tokens, place, endedTokenOfName }: AcquireRequest): string {
    const rest = place?.slice(this.outbox.instance.length + 1) ?? '';
    return `${Math.ceil(ttl)} ${tokens} ${rest}${endedTokenOfName === undefined ? '' : ` ${endedTokenOfName}`}`;
  }

  /**
   * Parses a reply: the first token if all requested tokens were granted, the first token and their number otherwise,
   * or the holder.
   */
  private answer(reply: unknown, wanted: number): Grant | Taken {
    if (!Array.isArray(reply)) return this.grant(integer(reply), wanted);
    if (reply.length === 2) return this.grant(integer(reply[0]), integer(reply[1]));
    return this.taken(reply);
  }

  private grant(token: number, tokens: number): Grant {
    return { owner: `${this.outbox.instance}:${token}`, token, tokens };
  }

  private sharesIn(reply: unknown, tag: string): Shares {
    const { instance } = this.outbox;
    // After the reply only: a user without rights to the key of shared holders can continue to use exclusive locks.
    this.outbox.noteSharedMode();
    const [floor, first, holds, waiting, ...found] = list(reply);
    const [granted = 0, tokens = 0] = holds === '' ? [] : String(holds).split('/').map(integer);
    const earlier = found.map((token) => {
      return { owner: taggedOwner(instance, tag, integer(token)), token: integer(token), tokens: 1 };
    });
    return {
      holds: [...earlier, ...sharesOf(instance, tag, { token: integer(first), tokens }, granted)],
      tokenFloor: integer(floor),
      taken: waiting === '' ? undefined : this.takenBy(waiting, floor),
    };
  }

  private takenBy(waiting: unknown, floor: unknown): Taken {
    const [, left, owner] = /^(-?\d+) (.*)$/s.exec(String(waiting)) ?? [];
    if (owner === undefined) throw strangeReply(waiting);
    return this.taken([left, owner, floor]);
  }

  /** Parses the reply for a taken lock: owner, remaining lease, token floor. */
  private taken(reply: unknown[]): Taken {
    const [remaining, by, tokenFloor] = list(reply, 3);
    const [left, owner] = [integer(remaining), text(by)];
    if (owner === SHARED_OWNER) this.outbox.noteSharedMode();
    return { owner, remaining: remainingIn(left, owner), tokenFloor: integer(tokenFloor) };
  }

  /** Parses the reply to a release. A shared waiter may have been notified instead of admitted. */
  private isReleased(reply: unknown): boolean {
    const outcome = integer(reply);
    if (outcome === 2) this.outbox.noteSharedMode();
    return outcome > 0;
  }
}
