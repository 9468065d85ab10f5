import { MemoryKeys } from './memory-keys.js';

/** The keys of one name that a script receives. */
type Keys = readonly [lock: string, queue: string, fence: string];
type Args = readonly string[];

/** Milliseconds for which a queue outlives its last refresh. */
const QUEUE_RETENTION = 60_000;
/** Milliseconds for which a release keeps the fence once the clock is beyond it. */
const FENCE_RETENTION = 600_000;
/** The clocks were set back where somebody came so many microseconds in the future. */
const FUTURE = 1_000_000;

/** One Redis of a quorum within this process: each method does what the Lua script of the same name does, as atomically. */
export class MemoryNode {
  private readonly keys: MemoryKeys;
  private readonly channels = new Map<string, (message: string) => void>();

  /** @param now the time in milliseconds since 1970 */
  constructor(private readonly now: () => number) {
    this.keys = new MemoryKeys(() => this.ms);
  }

  /** Runs a script for the request of one name; `extend` and `query` take several. */
  run(script: string, keys: readonly string[], given: readonly (string | number)[]): unknown {
    const args = given.map(String);
    const own = keys as unknown as Keys;
    switch (script) {
      case 'quorum-acquire':
        return this.acquire(own, args);
      case 'quorum-release':
        return this.release(own, args);
      case 'extend':
        return locksOf(keys).map((lock, i) => this.extend(lock, args.slice(2 * i)));
      case 'query':
        return Array.from({ length: keys.length / 3 }, (_, i) => this.query(keys.slice(3 * i)));
      case 'command':
        return Number(this.call(args[1] ?? '', args[2] ?? ''));
      default:
        throw new Error(`A node in memory cannot run ${script}.`);
    }
  }

  subscribe(channel: string, hear: (message: string) => void): void {
    this.channels.set(channel, hear);
  }

  unsubscribe(channel: string): void {
    this.channels.delete(channel);
  }

  flush(): void {
    this.keys.flushall();
  }

  query([lock = '', queue = '']: readonly string[]): unknown {
    const { keys } = this;
    return [this.micros, keys.get(lock) ?? null, keys.pttl(lock), flat(keys.zrange(queue)), []];
  }

  /** What the keys of a name contain, and for how long. */
  contentOf([lock, queue, fence]: Keys): unknown[] {
    const { keys } = this;
    return [
      keys.get(lock),
      keys.pttl(lock),
      flat(keys.zrange(queue)),
      keys.pttl(queue),
      keys.get(fence),
      keys.pttl(fence),
    ];
  }

  private acquire([lock, queue, fence]: Keys, args: Args): unknown {
    const [instance = '', first = '', end = '', ttl = '', place = '', retention] = args;
    const { keys, micros } = this;
    const owner = keys.get(lock);
    const last = this.last(fence);
    const own = grantOf(instance, owner);
    if (owner !== undefined && own === undefined) {
      if (place !== '') this.join(queue, place);
      return [0, micros, last, keys.pttl(lock), owner];
    }
    if (own === Number(first) && own > 0) {
      keys.pexpireat(lock, this.ends(ttl));
      return [1, micros, last];
    }
    if (Number(first) <= Math.max(last, own ?? 0)) return [2, micros, last];
    keys.set(lock, `${instance}:${first}`, this.ends(ttl));
    this.accept(fence, end, Number(retention));
    this.leave(queue, instance);
    return [1, micros, Number(end)];
  }

  private release([lock, queue, fence]: Keys, args: Args): number {
    const [instance = '', token = '', mode, place = '', inbox = '', claimTtl = '', name = ''] = args;
    const { keys } = this;
    let owner = keys.get(lock);
    const own = owner === instance ? 0 : grantOf(instance, owner);
    const isAwaited = mode !== 'quiet' && keys.zrange(queue).length > 0;
    if (place === 'cancel') this.leave(queue, instance);
    if (this.last(fence) < Number(token)) this.accept(fence, token, FENCE_RETENTION);
    let released = 0;
    if (own !== undefined && own <= Number(token)) {
      const [, holder] = (mode === 'revoke' && /^(.*):\d+$/.exec(owner ?? '')) || [];
      if (holder !== undefined) this.call(inbox + holder, `revoked ${owner} ${name}`);
      released = 1;
      owner = undefined;
      keys.del(lock);
    }
    if (isAwaited && owner === undefined) this.reserve(lock, queue, inbox, claimTtl, name);
    if (place !== 'cancel' && place !== '') this.join(queue, place);
    return released;
  }

  private extend(lock: string, [owner = '', lease = '']: Args): number {
    const { keys, ms } = this;
    const isExact = lease.startsWith('=');
    const ttl = Number(lease.replace('=', ''));
    if (keys.get(lock) !== owner) return 0;
    const left = keys.pttl(lock);
    if (!isExact && left >= ttl) return left;
    keys.pexpireat(lock, ms + ttl);
    return 1;
  }

  private reserve(lock: string, queue: string, inbox: string, claimTtl: string, name: string): void {
    const { keys } = this;
    for (const [instance] of keys.zrange(queue)) {
      keys.zrem(queue, instance);
      if (!this.call(inbox + instance, `released ${name}`)) continue;
      keys.set(lock, `${instance}:0`, this.ends(claimTtl));
      return;
    }
  }

  private join(queue: string, place: string): void {
    const { since, instance } = this.rank(queue, place);
    this.keys.zadd(queue, since, instance);
    this.keys.pexpireat(queue, this.ms + QUEUE_RETENTION);
  }

  private leave(queue: string, instance: string): void {
    this.keys.zrem(queue, instance);
  }

  private rank(queue: string, place: string): { since: number; instance: string } {
    const [, instance = '', text] = /^(.*)\|(\d+)$/.exec(place) ?? [];
    const newest = this.keys.zrange(queue).at(-1)?.[1] ?? 0;
    const since = Number(text);
    const isFuture = since < newest && newest > this.micros + FUTURE;
    return { instance, since: isFuture ? (this.keys.zscore(queue, instance) ?? newest + 1) : since };
  }

  private accept(fence: string, token: string, retention: number): void {
    const ahead = Math.max(0, Math.ceil((Number(token) - this.micros) / 1_000));
    this.keys.set(fence, token, this.ms + retention + ahead);
  }

  private last(fence: string): number {
    return Number(this.keys.get(fence) ?? 0);
  }

  private ends(ttl: string): number {
    return this.ms + Number(ttl);
  }

  private call(channel: string, message: string): boolean {
    const hear = this.channels.get(channel);
    hear?.(message);
    return hear !== undefined;
  }

  private get micros(): number {
    return Math.floor(this.now() * 1_000);
  }

  private get ms(): number {
    return Math.floor(this.now());
  }
}

/** Which grant of an instance a lock is: 0 for a reservation, undefined for somebody else's. */
function grantOf(instance: string, owner: string | undefined): number | undefined {
  return owner?.startsWith(`${instance}:`) ? Number(owner.slice(instance.length + 1)) : undefined;
}

/** The locks among the keys of an extension, each followed by its shared holders, of which a quorum has none. */
function locksOf(keys: readonly string[]): string[] {
  return keys.filter((_, i) => i % 2 === 0);
}

function flat(members: readonly (readonly [string, number])[]): string[] {
  return members.flatMap(([member, score]) => [member, String(score)]);
}
