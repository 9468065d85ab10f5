import { StoreRefusal } from '../store-errors.js';
import { list } from './connection/script-reply.js';

/**
 * Most requests in one call. Many callers at once make several calls, which leave as they fill up, so that Redis works on
 * the first while the rest is still being gathered; more than that, and one of the two would wait for the other.
 */
const MAX_SIZE = 32;

/** Requests that go out together: keys and arguments, one request's after the other's. */
class Batch {
  readonly keys: string[] = [];
  readonly args: (string | number)[] = [];
  /** Behind which key and argument each request ends. */
  readonly ends: (readonly [keys: number, args: number])[] = [];
  /** In the order of the requests; an error where Redis refused just that one. */
  readonly replies: Promise<unknown[]>;
  settle: (replies: Promise<unknown[]>) => void = () => {};

  constructor() {
    this.replies = new Promise((resolve) => (this.settle = resolve));
  }
}

/** Where a request writes itself. */
export type BatchContent = Pick<Batch, 'keys' | 'args'>;

/** Sends requests; resolves to an array of their replies in order. */
export type SendBatch = (content: BatchContent) => Promise<unknown>;

/**
 * Gathers requests of one tick to the same script into one call.
 *
 * Most of what a request costs, here and in Redis, is that of the call: a command, a packet, a script's set-up.
 */
export class ScriptBatch {
  private batch = new Batch();

  constructor(
    private readonly send: SendBatch,
    private readonly maxSize = MAX_SIZE,
  ) {}

  /** Where the next request appends its keys and arguments before it calls {@link join}. */
  get content(): BatchContent {
    return this.batch;
  }

  /** Adds the request that has just been written; `read` makes its answer of its reply. */
  join<Answer>(read: (reply: unknown) => Answer): Promise<Answer> {
    const { batch } = this;
    const position = batch.ends.push([batch.keys.length, batch.args.length]) - 1;
    if (batch.ends.length === this.maxSize) this.flush();
    return batch.replies.then((replies) => {
      const reply = replies[position];
      if (reply instanceof Error) throw reply;
      return read(reply);
    });
  }

  /** Sends what was gathered. */
  flush(): void {
    const { batch } = this;
    if (batch.ends.length === 0) return;
    this.batch = new Batch();
    const sent = this.send(batch).then((replies) => list(replies, batch.ends.length));
    batch.settle(
      batch.ends.length === 1 ? sent : sent.catch((error: unknown) => this.sendEach(batch, error)),
    );
  }

  /** What Redis refuses may be the fault of one request, such as a key of another type. */
  private sendEach({ keys, args, ends }: Batch, error: unknown): Promise<unknown[]> {
    if (!(error instanceof StoreRefusal)) throw error;
    const each = ends.map(async ([lastKey, lastArg], i): Promise<unknown> => {
      const [firstKey, firstArg] = ends[i - 1] ?? [0, 0];
      const own = { keys: keys.slice(firstKey, lastKey), args: args.slice(firstArg, lastArg) };
      try {
        return list(await this.send(own), 1)[0];
      } catch (refusal) {
        return refusal;
      }
    });
    return Promise.all(each);
  }
}
