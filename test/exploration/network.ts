import { isDeepStrictEqual } from 'node:util';
import type { Extension, LockStore, StoreEvents } from '../../lib/store/lock-store.js';
import { memoryStore } from '../../lib/store/memory/memory.store.js';
import type { MemoryLockServer } from '../../lib/store/memory/memory-lock-server.js';
import { isRefusal } from '../../lib/store/store-errors.js';
import { constant } from './constants.js';

/** A request on its way. Its function is called when the server runs it. */
export interface Request {
  readonly kind: string;
  readonly args: readonly unknown[];
  readonly sentAt: number;
  /** The step that sent it, where that tells for whom it is. */
  readonly cause: string;
  readonly run: () => Promise<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The reply to a request, or the error that came instead. */
interface Reply {
  readonly to: Request;
  readonly error?: Error | undefined;
  readonly result?: unknown;
}

type Method = (...args: readonly unknown[]) => unknown;

/** Whether the engine repeats a request until it is answered. Of extensions, it repeats those that end a lease. */
export function isRepeated({ args: [batch], kind }: Request): boolean {
  return kind === 'extend'
    ? (batch as readonly Extension[])[0]?.ttl === 0
    : ['release', 'cancel', 'transfer'].includes(kind);
}

/** What is on its way between an instance and the server, in order. */
export class Network {
  requests: Request[] = [];
  replies: Reply[] = [];
  /** Events of the store that the instance has not heard of. */
  messages: { readonly kind: keyof StoreEvents; readonly args: readonly unknown[] }[] = [];
  /** Copies of requests that were given up or answered. They may arrive at any time. */
  readonly late: Request[] = [];
  /** Requests without a reply that may be repeated, in the order of their failures. */
  private failed: Request[] = [];
  isCut = false;
  readonly store: LockStore;
  /** Ceases to receive messages. */
  private readonly ignore: () => void;

  constructor(id: string, server: MemoryLockServer, world: { readonly now: number; readonly step: string }) {
    const memory = memoryStore(server, id);
    /** Puts messages of the server on their way. */
    const inbox = new Proxy({} as StoreEvents, {
      get: (_, kind: keyof StoreEvents | 'then') =>
        kind === 'then' ? undefined : (...args: readonly unknown[]) => this.messages.push({ kind, args }),
    });
    constant(inbox, 'events');
    this.ignore = () => void memory.close();
    /** Puts calls of some methods of the server on their way. */
    const sent = <T extends object>(target: T, ...kinds: readonly (keyof T & string)[]): T => {
      const entries = kinds.map((kind) => {
        const send = (...args: readonly unknown[]): Promise<unknown> =>
          new Promise((resolve, reject) => {
            // Several calls of an instance read at the same time.
            const cause = kind === 'read' ? world.step.slice(1) : '';
            const run = async (): Promise<unknown> => (target[kind] as Method)(...args);
            this.requests.push({ kind, args, cause, sentAt: world.now, run, resolve, reject });
          });
        return [kind, send];
      });
      return { ...target, ...Object.fromEntries(entries) };
    };
    const store: LockStore = {
      ...sent(memory, 'acquire', 'share', 'yield', 'extend', 'release', 'cancel', 'transfer'),
      // No instance asks another one for its labels, or whether it is alive.
      send: undefined,
      open: () => memory.open(inbox),
      marks: memory.marks && sent(memory.marks, 'read', 'keep', 'delete'),
    };
    this.store = constant(store, 'store');
  }

  /** Requests without a reply are sent again after the reconnect, before the others; messages are lost. */
  cut(): void {
    this.isCut = true;
    this.messages = [];
    this.requests.unshift(...this.replies.splice(0).map(({ to }) => to));
    this.ignore();
  }

  /** Puts a reply on its way, unless its arrival changes nothing: then it is heard at once. */
  answer(to: Request, result: unknown, error?: Error): void {
    const { args, kind } = to;
    this.failed = this.failed.filter((each) => !isDeepStrictEqual([each.kind, each.args], [kind, args]));
    if (error && !isRefusal(error) && isRepeated(to)) this.failed.push(to);
    const isNoNews =
      kind === 'release' || (kind === 'cancel' && (result as readonly string[] | undefined)?.length === 0);
    if (!error && isNoNews) to.resolve(result);
    else this.replies.push({ to, result, error });
  }

  /** The instance gets the first message on its way. */
  getMessage(events: StoreEvents): void {
    const message = this.messages.shift();
    if (message) (events[message.kind] as Method).apply(events, [...message.args]);
  }

  /** The instance hears the first reply on its way. */
  hear(): void {
    const reply = this.replies.shift();
    if (reply?.error) reply.to.reject(reply.error);
    else reply?.to.resolve(reply.result);
  }
}
