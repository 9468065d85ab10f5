import { MemoryKeys } from './memory-keys.js';

/** What a script is asked of one name: its four keys, and what the script takes. */
type Keys = readonly [lock: string, queue: string, fence: string, shared: string];
type Args = readonly string[];

/** Milliseconds for which a queue outlives its last refresh. */
const QUEUE_RETENTION = 60_000;
/** Milliseconds for which shared holders are kept once the last of their leases has expired. */
const SHARED_RETENTION = 60_000;
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
      case 'quorum-acquire-shared':
        return this.acquireShared(own, args);
      case 'quorum-release':
        return this.release(own, args);
      case 'quorum-yield':
        return this.yield(own, args);
      case 'quorum-force-release':
        return this.forceRelease(own, args);
      case 'extend':
        return pairsOf(keys).map(([lock, shared], i) => this.extend(lock, shared, args.slice(2 * i)));
      case 'query':
        return Array.from({ length: keys.length / 3 }, (_, i) => this.query(keys.slice(3 * i)));
      case 'send':
        return Number(this.call(args[0] ?? '', args[1] ?? ''));
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

  query([lock = '', queue = '', shared = '']: readonly string[]): unknown {
    const { keys } = this;
    const owner = keys.get(lock);
    const holders = owner === 'shared' ? keys.zrange(shared).filter(([, end]) => end > this.ms) : [];
    return [this.micros, owner ?? null, keys.pttl(lock), flat(keys.zrange(queue)), flat(holders)];
  }

  /** What the keys of a name contain, and for how long. */
  contentOf([lock, queue, fence, shared]: Keys): unknown[] {
    const { keys } = this;
    const sorted = [queue, shared].map((key) => flat(keys.zrange(key)));
    return [
      keys.get(lock),
      keys.pttl(lock),
      sorted[0],
      keys.pttl(queue),
      keys.get(fence),
      keys.pttl(fence),
      sorted[1],
      keys.pttl(shared),
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

  private acquireShared([lock, queue, fence, shared]: Keys, args: Args): unknown {
    const [instance = '', turn = '', first = '', end = '', ttl = '', place = '', retention] = args;
    const [inbox = '', claimTtl = '', name = ''] = args.slice(7);
    const { keys, micros } = this;
    const holds = Array.from(
      { length: Number(end) - Number(first) + 1 },
      (_, i) => `${instance}~${turn}:${i + 1}`,
    );
    let owner = keys.get(lock);
    const last = this.last(fence);
    const own = grantOf(instance, owner);
    const taken = (by: string | undefined): unknown => {
      if (place !== '') this.join(queue, place);
      return [0, micros, last, keys.pttl(lock), by];
    };
    if (owner !== undefined && own === undefined && owner !== 'shared') return taken(owner);
    if (owner === 'shared') {
      this.live(shared);
      if (keys.zscore(shared, holds[0] ?? '') !== undefined) {
        for (const hold of holds) {
          const score = keys.zscore(shared, hold);
          if (score !== undefined) keys.zadd(shared, Math.max(score, this.ends(ttl)), hold);
        }
        this.cover(lock, shared);
        return [1, micros, last];
      }
    }
    if (Number(first) <= Math.max(last, own ?? 0)) return [2, micros, last];
    const isReserved =
      own === 0 || (owner === 'shared' && keys.zscore(shared, `${instance}:0`) !== undefined);
    if (!isReserved && this.overtakes(queue, instance, place, inbox)) {
      if (owner !== 'shared') owner = this.reserve([lock, queue, fence, shared], inbox, claimTtl, name);
      return taken(owner);
    }
    if (owner === 'shared') keys.zrem(shared, `${instance}:0`);
    else keys.del(shared);
    for (const hold of holds)
      keys.zadd(shared, Math.max(keys.zscore(shared, hold) ?? 0, this.ends(ttl)), hold);
    this.cover(lock, shared);
    this.accept(fence, end, Number(retention));
    this.leave(queue, instance);
    return [1, micros, Number(end)];
  }

  private yield([lock, queue, fence, shared]: Keys, args: Args): unknown {
    const [instance = '', token, first = '', end = '', ttl = '', place = '', retention] = args;
    const [inbox = '', claimTtl = '', name = ''] = args.slice(7);
    const { keys, micros } = this;
    const last = this.last(fence);
    const own = grantOf(instance, keys.get(lock));
    if (own === Number(first)) return [1, micros, last];
    if (own !== Number(token)) return [-1, micros, last];
    const reserved = this.reserve([lock, queue, fence, shared], inbox, claimTtl, name);
    if (reserved !== undefined) {
      if (place !== '') this.join(queue, place);
      return [0, micros, last, Number(claimTtl), reserved];
    }
    if (Number(first) <= last) return [2, micros, last];
    keys.set(lock, `${instance}:${first}`, this.ends(ttl));
    this.accept(fence, end, Number(retention));
    return [1, micros, Number(end)];
  }

  private release([lock, queue, fence, shared]: Keys, args: Args): number {
    const [instance = '', token = '', mode, place = '', inbox = '', claimTtl = '', name = ''] = args;
    const holds = args.slice(7);
    const { keys } = this;
    let owner = keys.get(lock);
    const own = grantOf(instance, owner);
    const isAwaited = mode === 'wake' && keys.zrange(queue).length > 0;
    if (owner === 'shared') this.live(shared);
    if (place === 'leave') {
      this.leave(queue, instance);
      holds.push(`${instance}:0`);
    }
    if (this.last(fence) < Number(token)) this.accept(fence, token, FENCE_RETENTION);
    let released = 0;
    if (own !== undefined && own <= Number(token)) {
      released = 1;
      owner = undefined;
    } else if (owner === 'shared') {
      released = Math.min(1, keys.zrem(shared, ...holds));
      if (released > 0 && keys.zrange(shared).length > 0) this.cover(lock, shared);
      else if (released > 0) owner = undefined;
    }
    if (owner === undefined) keys.del(lock);
    if (isAwaited && (owner === undefined || owner === 'shared'))
      this.reserve([lock, queue, fence, shared], inbox, claimTtl, name, owner === 'shared');
    if (place !== 'leave' && place !== '') this.join(queue, place);
    return released;
  }

  private forceRelease([lock, queue, fence, shared]: Keys, args: Args): [ended: string[], held: string[]] {
    const [inbox = '', claimTtl = '', name = '', only, ...named] = args;
    const { keys } = this;
    const owner = keys.get(lock);
    const ended = this.holders(lock, shared).filter((each) => only === undefined || named.includes(each));
    for (const each of ended) {
      const [, instance] = /^([^~]+?)(?:~.*)?:\d+$/.exec(each) ?? [];
      if (instance !== undefined) this.call(inbox + instance, `revoked ${each} ${name}`);
      if (owner === 'shared') keys.zrem(shared, each);
    }
    if (ended.length > 0) {
      const reading = owner === 'shared' && this.live(shared) > 0;
      if (reading) this.cover(lock, shared);
      else keys.del(lock);
      this.reserve([lock, queue, fence, shared], inbox, claimTtl, name, reading);
    }
    return [ended, this.holders(lock, shared)];
  }

  private holders(lock: string, shared: string): string[] {
    const owner = this.keys.get(lock);
    if (owner === undefined) return [];
    if (owner !== 'shared') return [owner];
    return this.keys
      .zrange(shared)
      .filter(([, end]) => end > this.ms)
      .map(([holder]) => holder);
  }

  private extend(lock: string, shared: string, [owner = '', lease = '']: Args): number {
    const { keys, ms } = this;
    const kept = keys.get(lock);
    const isExact = lease.startsWith('=');
    const ttl = Number(lease.replace('=', ''));
    if (kept === 'shared') {
      const end = keys.zscore(shared, owner) ?? 0;
      if (end <= ms) return 0;
      if (!isExact && end > ms + ttl) return end - ms;
      keys.zadd(shared, ms + ttl, owner);
      this.cover(lock, shared);
      return 1;
    }
    if (kept !== owner) return 0;
    const left = keys.pttl(lock);
    if (!isExact && left >= ttl) return left;
    keys.pexpireat(lock, ms + ttl);
    return 1;
  }

  /** Whether somebody who waits for the lock alone, and is there, came before a request to share it. */
  private overtakes(queue: string, instance: string, place: string, inbox: string): boolean {
    const { keys } = this;
    const since = place === '' ? Infinity : this.rank(queue, place).since;
    for (const [other, score] of keys.zrange(queue)) {
      if (score >= since) return false;
      if (other.includes('|')) continue;
      if (other !== instance && this.call(inbox + other, 'waiting')) return true;
      keys.zrem(queue, other);
    }
    return false;
  }

  private reserve(
    [lock, queue, fence, shared]: Keys,
    inbox: string,
    claimTtl: string,
    name: string,
    reading = false,
  ): string | undefined {
    const { keys } = this;
    let reserved: string | undefined;
    for (const [place] of keys.zrange(queue)) {
      const [instance = ''] = place.split('|');
      const alone = place === instance;
      if (alone && (reading || reserved !== undefined)) break;
      keys.zrem(queue, place);
      if (!this.call(inbox + instance, `released ${keys.get(fence) ?? '0'} ${name}`)) continue;
      if (alone) {
        keys.set(lock, `${instance}:0`, this.ends(claimTtl));
        return `${instance}:0`;
      }
      if (!reading && reserved === undefined) keys.del(shared);
      keys.zadd(shared, this.ends(claimTtl), `${instance}:0`);
      this.cover(lock, shared);
      reserved = 'shared';
    }
    return reserved;
  }

  private join(queue: string, place: string): void {
    const { since, instance } = this.rank(queue, place);
    this.keys.zadd(queue, since, instance);
    this.keys.pexpireat(queue, this.ms + QUEUE_RETENTION);
  }

  private leave(queue: string, instance: string): void {
    this.keys.zrem(queue, instance, `${instance}|0|0|s|`);
  }

  private rank(queue: string, place: string): { since: number; instance: string } {
    const [, instance = '', text] = /^(.*)\|(\d+)$/.exec(place) ?? [];
    const newest = this.keys.zrange(queue).at(-1)?.[1] ?? 0;
    const since = Number(text);
    const isFuture = since < newest && newest > this.micros + FUTURE;
    return { instance, since: isFuture ? (this.keys.zscore(queue, instance) ?? newest + 1) : since };
  }

  /** Removes the holders whose leases have run out; returns how many are left. */
  private live(shared: string): number {
    const { keys, ms } = this;
    const all = keys.zrange(shared);
    const over = all.filter(([, end]) => end <= ms).map(([holder]) => holder);
    keys.zrem(shared, ...over);
    return all.length - over.length;
  }

  private cover(lock: string, shared: string): void {
    const [, end = 0] = this.keys.zrange(shared).at(-1) ?? [];
    this.keys.set(lock, 'shared', end);
    this.keys.pexpireat(shared, end + SHARED_RETENTION);
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

function pairsOf(keys: readonly string[]): [string, string][] {
  return keys.flatMap((key, i): [string, string][] => (i % 2 === 0 ? [[key, keys[i + 1] ?? '']] : []));
}

function flat(members: readonly (readonly [string, number])[]): string[] {
  return members.flatMap(([member, score]) => [member, String(score)]);
}
