import type { LockStore } from '../../lib/store/lock-store.js';

const METHODS = ['acquire', 'share', 'yield', 'release', 'extend', 'cancel', 'transfer'] as const;
type Method = (typeof METHODS)[number];
type Call = (...args: readonly unknown[]) => Promise<unknown>;

/** Counts the requests that a store gets, and holds them up, or their answers. */
export class Gates {
  private readonly counts = new Map<Method, number>();
  private readonly gates = new Map<string, Promise<void>>();

  constructor(store: LockStore) {
    for (const method of METHODS) {
      const call = store[method]?.bind(store) as Call | undefined;
      if (call) Object.assign(store, { [method]: this.around(method, call) });
    }
  }

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
    return this.counts.get(method) ?? 0;
  }

  private around(method: Method, call: Call): Call {
    return async (...args) => {
      this.counts.set(method, this.count(method) + 1);
      await this.gates.get(`requests ${method}`);
      const answer = await call(...args);
      await this.gates.get(`answers ${method}`);
      return answer;
    };
  }
}
