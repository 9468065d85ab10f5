import type { Grant, Taken } from '../grant.js';
import type { AcquireRequest, Gap, YieldRequest } from '../lock-store.js';
import { digitsIn } from '../owner-id.js';
import { acquireScript } from '../scripts/acquire.script.js';
import { releaseScript } from '../scripts/release.script.js';
import { yieldScript } from '../scripts/yield.script.js';
import type { RunArguments } from './connection/script-runner.js';
import { integer, list } from './connection/script-reply.js';
import type { Outbox } from './outbox.js';
import type { ScriptBatch } from './script-batch.js';

export class ExclusiveRequests {
  private readonly acquires: ScriptBatch;
  private readonly releases: ScriptBatch;

  constructor(private readonly outbox: Outbox) {
    this.acquires = outbox.newAcquireBatch(async (content) => {
      const reply = await outbox.sendAcquires(acquireScript, content);
      if (Array.isArray(reply)) return reply;
      const first = integer(reply);
      return content.args.map((_, i) => first + i);
    });
    this.releases = outbox.newReleaseBatch(async (content) => {
      const reply = await outbox.sendReleases(releaseScript, content, outbox.instance);
      return Array.isArray(reply) ? reply : content.args.map(() => reply);
    });
  }

  acquire(request: AcquireRequest): Promise<Grant | Taken> {
    const { keys, args } = this.acquires.content;
    this.outbox.pushKeys(keys, request.name);
    args.push(this.argument(request));
    this.outbox.flushSoon();
    return this.acquires.join((reply) => this.answer(reply, request.tokens));
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
    const { content } = this.releases;
    content.isAwaited ||= isAwaited;
    this.outbox.pushKeys(content.keys, name);
    content.args.push(digitsIn(owner));
    this.outbox.flushSoon();
    return this.releases.join((reply) => this.outbox.isReleased(reply));
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

  /**
   * Parses a reply: the first token if all requested tokens were granted, the first token and their number otherwise,
   * or the holder.
   */
  private answer(reply: unknown, wanted: number): Grant | Taken {
    if (!Array.isArray(reply)) return this.grant(integer(reply), wanted);
    if (reply.length === 2) return this.grant(integer(reply[0]), integer(reply[1]));
    return this.outbox.taken(reply);
  }

  private grant(token: number, tokens: number): Grant {
    return { owner: `${this.outbox.instance}:${token}`, token, tokens };
  }

  /** Formats a request as one argument, because most requests of a batch share it. */
  private argument({ ttl, tokens, place, endedTokenOfName }: AcquireRequest): string {
    const rest = place?.slice(this.outbox.instance.length + 1) ?? '';
    return `${Math.ceil(ttl)} ${tokens} ${rest}${endedTokenOfName === undefined ? '' : ` ${endedTokenOfName}`}`;
  }
}
