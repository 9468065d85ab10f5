import type {
  AcquireRequest,
  Extended,
  Extension,
  LockStore,
  OwnerChange,
  ShareRequest,
  StoreEvents,
  Transferred,
  Waiting,
  Waking,
  YieldRequest,
} from '../../../lib/store/lock-store.js';
import type { StoreOperations } from '../../../lib/store/store-operations.js';
import type { Grant, SharedTerms, Shares, Taken } from '../../../lib/store/grant.js';
import { sharesOf } from '../../../lib/store/owner-id.js';
import { formatPlace } from '../../../lib/store/place.js';
import { waitFor } from '../../support/wait-for.js';
import { settleAfter } from './manual-clock.js';

interface Calls {
  acquire: { readonly request: AcquireRequest; readonly reply: Grant | Taken };
  share: { readonly request: ShareRequest; readonly reply: Shares };
  yield: { readonly request: YieldRequest; readonly reply: Grant | Taken | undefined };
  release: { readonly request: { readonly name: string; readonly owner: string }; readonly reply: boolean };
  extend: { readonly request: readonly Extension[]; readonly reply: readonly (boolean | Extended)[] };
  /** The request is the first change, with all of them. */
  transfer: {
    readonly request: OwnerChange & { readonly changes: readonly OwnerChange[] };
    readonly reply: boolean | Transferred;
  };
  cancel: {
    readonly request: Waiting & { readonly name: string };
    readonly reply: readonly string[];
  };
}

type CallName = keyof Calls;

/** A request that waits for its answer. */
export interface StoreCall<Name extends CallName> {
  readonly request: Calls[Name]['request'];
  /** Answers, and lets everything run that follows. */
  answer(reply: Calls[Name]['reply']): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** A store that answers when and what a test says: every order of requests, answers and messages can be played. */
export class ScriptedStore implements LockStore {
  hears = true;
  readonly trouble = new Error('There is no store.');
  readonly operations: StoreOperations = {
    query: () => Promise.resolve({ held: [], pending: [] }),
    async *list() {
      yield [];
    },
    forceRelease: () => Promise.resolve({ released: [], holders: [] }),
  };
  events: StoreEvents | undefined;
  private readonly calls: { [Name in CallName]: StoreCall<Name>[] } = {
    acquire: [],
    share: [],
    yield: [],
    release: [],
    extend: [],
    cancel: [],
    transfer: [],
  };

  open(events: StoreEvents): void {
    this.events = events;
  }

  wakesBy(): Waking | undefined {
    return this.hears ? 'message' : undefined;
  }

  /** The next request of a kind that a test has not looked at yet. */
  next<Name extends CallName>(name: Name): Promise<StoreCall<Name>> {
    return waitFor(() => this.calls[name].shift(), { that: `a request to ${name}` });
  }

  /** Answers the next request of a kind. */
  async answer<Name extends CallName>(name: Name, reply: Calls[Name]['reply']): Promise<void> {
    await (await this.next(name)).answer(reply);
  }

  async fail(name: CallName, error: Error): Promise<void> {
    await (await this.next(name)).fail(error);
  }

  /** How many requests of a kind nobody has looked at. */
  unseen(name: CallName): number {
    return this.calls[name].length;
  }

  place(claimTtl: number, wanted: number, shared?: SharedTerms): string {
    return formatPlace({ instance: 'me', claimTtl, wanted, shared });
  }

  acquire(request: AcquireRequest): Promise<Grant | Taken> {
    return this.ask('acquire', request);
  }

  share(request: ShareRequest): Promise<Shares> {
    return this.ask('share', request);
  }

  yield(request: YieldRequest): Promise<Grant | Taken | undefined> {
    return this.ask('yield', request);
  }

  release(name: string, owner: string): Promise<boolean> {
    return this.ask('release', { name, owner });
  }

  async extend(batch: readonly Extension[]): Promise<readonly Extended[]> {
    const reply = await this.ask('extend', batch);
    return reply.map((each) => (each === undefined ? undefined : Number(each)));
  }

  cancel(name: string, waiting: Waiting): Promise<readonly string[]> {
    return this.ask('cancel', { name, ...waiting });
  }

  async transfer(changes: readonly OwnerChange[]): Promise<Transferred> {
    const [first] = changes;
    if (!first) throw new Error('There is nothing to transfer.');
    const reply = await this.ask('transfer', { ...first, changes });
    if (typeof reply === 'string') return reply;
    return reply ? 'transferred' : 'taken';
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private ask<Name extends CallName>(
    name: Name,
    request: Calls[Name]['request'],
  ): Promise<Calls[Name]['reply']> {
    return new Promise((resolve, reject) => {
      this.calls[name].push({
        request,
        answer: (reply) => settleAfter(() => resolve(reply)),
        fail: (error) => settleAfter(() => reject(error)),
      });
    });
  }
}

/** A grant with the token and one token more for each further hold. */
export function grant(token: number, tokens = 1): Grant {
  return { owner: `me:${token}`, token, tokens };
}

/** So many shared holds, with a block of tokens that they divide among them. */
export function sharedGrants(tag: string, token: number, holds = 1, tokens = holds): readonly Grant[] {
  return sharesOf('me', tag, { token, tokens }, holds);
}

/** The reply that grants so many shared holds; with `behind`, more are wanted than there are. */
export function shares(
  tag: string,
  token: number,
  { holds = 1, tokens = holds, behind = false }: SharesTerms = {},
): Shares {
  const tokenFloor = token + tokens - 1;
  return {
    holds: sharedGrants(tag, token, holds, tokens),
    tokenFloor,
    taken: behind ? { owner: 'shared', remaining: 10_000, tokenFloor } : undefined,
  };
}

interface SharesTerms {
  readonly holds?: number;
  readonly tokens?: number;
  readonly behind?: boolean;
}

/** No shared hold is granted: somebody else has the lock. */
export function noShares(tokenFloor: number): Shares {
  return { holds: [], tokenFloor, taken: taken(tokenFloor) };
}

/** Somebody else has the lock, after all grants up to `tokenFloor`. */
export function taken(tokenFloor: number, remaining = 10_000): Taken {
  return { owner: 'other-1-v1-000000000000:1', remaining, tokenFloor };
}
