import type {
  AcquireRequest,
  Extension,
  ForcedRelease,
  LockStore,
  OwnerChange,
  ShareRequest,
  StoreEvents,
  Transferred,
  Waiting,
  YieldRequest,
} from '../../lib/store/lock-store.js';
import type { Grant, SharedTerms, Shares, Taken } from '../../lib/store/grant.js';
import type { LockSnapshot } from '../../lib/store/lock-snapshot.interface.js';

type Method = 'acquire' | 'share' | 'yield' | 'release' | 'extend' | 'cancel' | 'transfer';

/** A real store whose requests, or whose answers, a test can hold up one by one. */
export class GatedStore implements LockStore {
  /** Every request, in the order in which it was made. */
  readonly requests: { readonly method: Method; readonly argument: unknown }[] = [];
  private readonly gates = new Map<string, Promise<void>>();

  constructor(private readonly store: LockStore) {}

  /** Keeps the requests of a method from the store, or its answers from the engine, until the function is called. */
  hold(what: 'requests' | 'answers', method: Method): () => void {
    let open: (() => void) | undefined;
    const passed = new Promise<void>((resolve) => (open = resolve));
    this.gates.set(`${what} ${method}`, passed);
    return () => {
      this.gates.delete(`${what} ${method}`);
      open?.();
    };
  }

  count(method: Method): number {
    return this.requests.filter((request) => request.method === method).length;
  }

  canQueue(name: string): boolean {
    return this.store.canQueue(name);
  }

  listen(name: string): void {
    this.store.listen?.(name);
  }

  ignore(name: string): void {
    this.store.ignore?.(name);
  }

  get trouble(): Error {
    return this.store.trouble;
  }

  open(events: StoreEvents): void {
    this.store.open(events);
  }

  place(claimTtl: number, tokens: number, shared?: SharedTerms): string {
    return this.store.place(claimTtl, tokens, shared);
  }

  acquire(request: AcquireRequest): Promise<Grant | Taken> {
    return this.pass('acquire', request, () => this.store.acquire(request));
  }

  share(request: ShareRequest): Promise<Shares> {
    return this.pass('share', request, async () => {
      const reply = await this.store.share?.(request);
      if (!reply) throw new Error('This store has no shared mode.');
      return reply;
    });
  }

  yield(request: YieldRequest): Promise<Grant | Taken | undefined> {
    return this.pass('yield', request, () => this.store.yield(request));
  }

  release(name: string, owner: string): Promise<boolean> {
    return this.pass('release', owner, () => this.store.release(name, owner));
  }

  extend(batch: readonly Extension[]): ReturnType<LockStore['extend']> {
    return this.pass('extend', batch, () => this.store.extend(batch));
  }

  cancel(name: string, waiting: Waiting): Promise<readonly string[]> {
    return this.pass('cancel', waiting.place, () => this.store.cancel(name, waiting));
  }

  transfer(changes: readonly OwnerChange[], decider?: 'first' | 'last'): Promise<Transferred> {
    return this.pass(
      'transfer',
      changes,
      async () => (await this.store.transfer?.(changes, decider)) ?? 'gone',
    );
  }

  query(name: string): Promise<LockSnapshot> {
    return this.store.query(name);
  }

  list(beginning: string): AsyncIterable<readonly LockSnapshot[]> {
    return this.store.list(beginning);
  }

  forceRelease(name: string, owners?: readonly string[]): Promise<ForcedRelease> {
    return this.store.forceRelease(name, owners);
  }

  close(): Promise<void> {
    return this.store.close();
  }

  private async pass<T>(method: Method, argument: unknown, request: () => Promise<T>): Promise<T> {
    this.requests.push({ method, argument });
    await this.gates.get(`requests ${method}`);
    const answer = await request();
    await this.gates.get(`answers ${method}`);
    return answer;
  }
}
