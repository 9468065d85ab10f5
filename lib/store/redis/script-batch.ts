import { StoreRefusal } from '../lock-store.js';

/**
 * Most requests in one call. Many callers at once make several calls, which leave as they fill up, so that Redis works on
 * the first while the rest is still being gathered; more than that, and one of the two would wait for the other.
 */
const MAX_SIZE = 32;

/** Requests that go out together: keys and arguments, one request's after the other's. */
class Batch<Reply> {
  readonly keys: string[] = [];
  readonly args: (string | number)[] = [];
  size = 0;
  /** In the order of the requests; an error where Redis refused just that one. */
  readonly replies: Promise<(Reply | Error)[]>;
  settle: (replies: Promise<(Reply | Error)[]>) => void = () => {};

  constructor() {
    this.replies = new Promise((resolve) => (this.settle = resolve));
  }
}

/** Where a request writes itself. */
export type BatchContent = Pick<Batch<unknown>, 'keys' | 'args'>;

/** Sends requests; resolves to their replies in order. */
export type SendBatch<Reply> = (content: BatchContent) => Promise<Reply[]>;

/**
 * Gathers requests of one tick to the same script into one call.
 *
 * Most of what a request costs, here and in Redis, is that of the call: a command, a packet, a script's set-up.
 */
export class ScriptBatch<Reply> {
  private batch = new Batch<Reply>();

  constructor(
    private readonly send: SendBatch<Reply>,
    private readonly maxSize = MAX_SIZE,
  ) {}

  /** Where the next request appends its keys and arguments, as many as every other, before it calls {@link join}. */
  get content(): BatchContent {
    return this.batch;
  }

  /** Adds the request that has just been written; `read` makes its answer of its reply. */
  join<Answer>(read: (reply: Reply) => Answer): Promise<Answer> {
    const { batch } = this;
    const position = batch.size++;
    if (batch.size === this.maxSize) this.flush();
    return batch.replies.then((replies) => {
      const reply = replies[position];
      if (reply instanceof Error) throw reply;
      return read(reply as Reply);
    });
  }

  /** Sends what was gathered. */
  flush(): void {
    const { batch } = this;
    if (batch.size === 0) return;
    this.batch = new Batch();
    const sent: Promise<(Reply | Error)[]> = this.send(batch);
    batch.settle(batch.size === 1 ? sent : sent.catch((error: unknown) => this.sendEach(batch, error)));
  }

  /** What Redis refuses may be the fault of one request, such as a key of another type. */
  private sendEach({ keys, args, size }: Batch<Reply>, error: unknown): Promise<(Reply | Error)[]> {
    if (!(error instanceof StoreRefusal)) throw error;
    const each = Array.from({ length: size }, async (_, i): Promise<Reply | Error> => {
      const own = { keys: partOf(keys, i, size), args: partOf(args, i, size) };
      try {
        return (await this.send(own))[0] as Reply;
      } catch (refusal) {
        return refusal as Error;
      }
    });
    return Promise.all(each);
  }
}

function partOf<T>(all: readonly T[], part: number, parts: number): T[] {
  const length = all.length / parts;
  return all.slice(part * length, (part + 1) * length);
}
