import type { KeepRequest, Mark, MarkStore } from '../mark.js';
import { keepScript } from '../scripts/keep.script.js';
import { marksScript } from '../scripts/marks.script.js';
import { integer, isOne, strangeReply, text } from './connection/script-reply.js';
import type { Outbox } from './outbox.js';
import type { ScriptBatch } from './script-batch.js';

export class MarkRequests implements MarkStore {
  private readonly reads: ScriptBatch;
  /** The reads of this tick that have not been sent, by name. Each request begins a new map. */
  private gathered = new Map<string, Promise<Mark | undefined>>();

  constructor(private readonly outbox: Outbox) {
    this.reads = outbox.newAcquireBatch(({ keys }) => {
      this.gathered = new Map();
      return outbox.run(marksScript, keys, ['GET']);
    });
  }

  /** Callers of one tick share a read. A later caller does not: the mark may have been deleted meanwhile. */
  read(name: string): Promise<Mark | undefined> {
    // A Cluster sends each read at once: its map is replaced before the read is in it.
    const { gathered } = this;
    const earlier = gathered.get(name);
    if (earlier) return earlier;
    this.reads.content.keys.push(this.outbox.keySpace.mark(name));
    this.outbox.flushSoon();
    const reading = this.reads.join(markIn);
    gathered.set(name, reading);
    return reading;
  }

  async keep({ name, owner, token, json, keep, releases }: KeepRequest): Promise<boolean> {
    const { outbox } = this;
    const keys = [...outbox.keySpace.keys(name), outbox.keySpace.mark(name)];
    const then = releases ? 'release' : 'hold';
    const args = [owner, token, Math.ceil(keep), json, outbox.prefixes(keys), then];
    return isOne(await outbox.run(keepScript, outbox.withFence(keys), args));
  }

  async delete(name: string): Promise<boolean> {
    return integer(await this.outbox.run(marksScript, [this.outbox.keySpace.mark(name)], ['DEL'])) > 0;
  }
}

function markIn(reply: unknown): Mark | undefined {
  if (reply === null) return undefined;
  const [, at, token, json = ''] = /^(\d+) (\d+) (.*)$/s.exec(text(reply)) ?? [];
  // A foreign value would otherwise run the work again and again.
  if (at === undefined) throw strangeReply(reply);
  return { at: Number(at), token: Number(token), json };
}
