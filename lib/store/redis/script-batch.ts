import { StoreRefusal } from '../store-errors.js';
import { list } from './connection/script-reply.js';
import type { RunArguments } from './connection/script-runner.js';
import type { KeySpace } from './key-space.js';

/**
 * Maximum number of requests in one call. Many simultaneous callers fill several calls, and Redis works on the first
 * one while the rest is gathered. With larger calls, each side would wait for the other.
 */
const MAX_SIZE = 32;

/** Runs scripts at the server of their keys. */
export interface ScriptServer {
  readonly keySpace: KeySpace;
  run(...call: RunArguments): Promise<unknown>;
  /** Maximum number of names in one call, if limited. */
  readonly maxBatch?: number | undefined;
}

/** A request of a batch: the end of its keys and arguments, and its promise. */
class Request {
  constructor(
    readonly lastKey: number,
    readonly lastArg: number,
    private readonly read: (reply: unknown) => unknown,
    private readonly resolve: (answer: never) => void,
    readonly fail: (error: unknown) => void,
  ) {}

  answer(reply: unknown): void {
    if (reply instanceof Error) return this.fail(reply);
    try {
      this.resolve(this.read(reply) as never);
    } catch (error) {
      this.fail(error);
    }
  }
}

/** Requests of one call: their keys and arguments in sequence. */
class Batch {
  readonly keys: string[] = [];
  readonly args: (string | number)[] = [];
  /** Whether other instances may wait for the released locks, and must be notified first. */
  isAwaited?: boolean;
  readonly requests: Request[] = [];
}

/** The part of a batch that a request appends to. */
export type BatchContent = Pick<Batch, 'keys' | 'args' | 'isAwaited'>;

/** Sends requests; resolves to an array of their replies in order, with errors for single refused requests. */
export type SendBatch = (content: BatchContent) => Promise<unknown>;

/**
 * Gathers requests of one tick to the same script into one call.
 *
 * Most of the cost of a request, here and in Redis, is the cost of its call: a command, a packet, the set-up of a
 * script.
 */
export class ScriptBatch {
  private batch = new Batch();

  constructor(
    private readonly send: SendBatch,
    private readonly maxSize = MAX_SIZE,
  ) {}

  /** The batch to which the next request appends its keys and arguments before it calls {@link join}. */
  get content(): BatchContent {
    return this.batch;
  }

  /** Adds the appended request; `read` parses its reply. */
  join<Answer>(read: (reply: unknown) => Answer): Promise<Answer> {
    const { keys, args, requests } = this.batch;
    return new Promise((resolve, fail) => {
      requests.push(new Request(keys.length, args.length, read, resolve, fail));
      if (requests.length === this.maxSize) this.flush();
    });
  }

  flush(): void {
    const { batch } = this;
    const { requests } = batch;
    if (requests.length === 0) return;
    this.batch = new Batch();
    this.send(batch).then(
      (replies) => answerAll(requests, replies),
      (error: unknown) => {
        // A single request, such as one with a key of another type, may have caused the refusal.
        if (requests.length > 1 && error instanceof StoreRefusal) this.sendEach(batch);
        else for (const request of requests) request.fail(error);
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
    const each = list(replies, requests.length);
    for (const [i, request] of requests.entries()) request.answer(each[i]);
  } catch (strange) {
    for (const request of requests) request.fail(strange);
  }
}
