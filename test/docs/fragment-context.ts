/* What the fragments in the documents use beside this package: an application around them. */
import type { Job, Queue } from 'bullmq';
import type { Cache } from 'cache-manager';
import type { Redis } from 'ioredis';
import type { LockService } from 'nest-redis-lock';
import type { Observable } from 'rxjs';

export declare const redis: Redis;

export interface Item {
  readonly warehouse: string;
  readonly sku: string;
}

export interface Order {
  readonly id: string;
  readonly customerId: string;
  readonly lines: readonly Item[];
}

export class Receipt {
  readonly paid = true;
}

/** Stands for the decorator of a transaction library. */
export function Transactional(): MethodDecorator {
  return () => {};
}

/** The class that a fragment's members belong to. */
export abstract class Application {
  protected abstract readonly locks: LockService;
  protected abstract readonly payments: { charge(order: number | string): Promise<Receipt> };
  protected abstract readonly stock: { take(item: Item): Promise<void> };
  protected abstract readonly accounts: { move(from: string, to: string): Promise<void> };
  protected abstract readonly orders: {
    place(order: Order): Promise<void>;
    cancel(id: string): Promise<void>;
  };
  protected abstract renderReport(day: string): Promise<string>;
  protected abstract readonly reports: { deleteOld(): Promise<void>; build(id: string): Promise<object> };
  protected abstract readonly files: {
    read(file: string, options: { signal?: AbortSignal }): Promise<string[]>;
  };
  protected abstract readonly rows: { write(row: string, fencingToken?: number): Promise<void> };
  protected abstract readonly imports: { progressOf(id: string): Observable<number> };
}

/** What a fragment uses of BentoCache. */
interface BentoCache {
  getOrSet<T>(options: { key: string; ttl: string; factory: () => Promise<T> }): Promise<T>;
}

/** What a fragment's statements find around them. */
export interface Surroundings {
  readonly locks: LockService;
  readonly bento: BentoCache;
  readonly cache: Cache;
  readonly queue: Queue;
  readonly job: Job<{ readonly lock: string }>;
  query(): Promise<string[]>;
  work(): Promise<string>;
  collect(): Promise<void>;
  transfer(options: { signal: AbortSignal; token: number }): Promise<void>;
}
