import { StoreRefusal } from '../store-errors.js';
import { list } from './connection/script-reply.js';

/**
 * Most requests in one call. Many callers at once make several calls, which leave as they fill up, so that Redis works on
 * the first while the rest is still being gathered; more than that, and one of the two would wait for the other.
 */
const MAX_SIZE = 32;

/** A request of a batch: behind which key and argument it ends, and who waits for its answer. */
interface Request {
  readonly lastKey: number;
  readonly lastArg: number;
  readonly answer: (reply: unknown) => void;
  readonly fail: (error: unknown) => void;
}

/** Requests that go out together: keys and arguments, one request's after the other's. */
class Batch {
  readonly keys: string[] = [];
  readonly args: (string | number)[] = [];
  /** Whether others may wait for what it releases: they are to be told first. */
  isAwaited?: boolean;
  readonly requests: Request[] = [];
}

/** Where a request writes itself. */
export type BatchContent = Pick<Batch, 'keys' | 'args' | 'isAwaited'>;

/**
 * Sends requests; resolves to an array of their replies in order, with an error where Redis refused just that one. The reply
 * to a single request may stand alone.
 */
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
    const { keys, args, requests } = this.batch;
    return new Promise((resolve, fail) => {
      const answer = (reply: unknown): void => {
        if (reply instanceof Error) return fail(reply);
        try {
          resolve(read(reply));
        } catch (error) {
          fail(error);
        }
      };
      requests.push({ lastKey: keys.length, lastArg: args.length, answer, fail });
      if (requests.length === this.maxSize) this.flush();
    });
  }

  /** Sends what was gathered. */
  flush(): void {
    const { batch } = this;
    const { requests } = batch;
    if (requests.length === 0) return;
    this.batch = new Batch();
    this.send(batch).then(
      (replies) => answerAll(requests, replies),
      (error: unknown) => {
        // What Redis refuses may be the fault of one request, such as a key of another type.
        if (requests.length > 1 && error instanceof StoreRefusal) this.sendEach(batch);
        else for (const { fail } of requests) fail(error);
      },
    );
  }

  private sendEach({ keys, args, requests }: Batch): void {
    for (const [i, request] of requests.entries()) {
      const { lastKey, lastArg } = requests[i - 1] ?? { lastKey: 0, lastArg: 0 };
      const own = { keys: keys.slice(lastKey, request.lastKey), args: args.slice(lastArg, request.lastArg) };
      this.send(own).then((replies) => answerAll([request], replies), request.fail);
    }
  }
}

function answerAll(requests: readonly Request[], replies: unknown): void {
  try {
    const each =
      requests.length === 1 && !Array.isArray(replies) ? [replies] : list(replies, requests.length);
    requests.forEach(({ answer }, i) => answer(each[i]));
  } catch (strange) {
    for (const { fail } of requests) fail(strange);
  }
}
