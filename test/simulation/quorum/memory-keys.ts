interface Entry {
  readonly value: string | Map<string, number>;
  /** In milliseconds since 1970; Infinity for a key without expiry. */
  readonly expiresAt: number;
}

/** The strings and sorted sets of one Redis. Methods have the names of its commands. */
export class MemoryKeys {
  private readonly entries = new Map<string, Entry>();

  /** @param now the time in whole milliseconds since 1970 */
  constructor(private readonly now: () => number) {}

  get(key: string): string | undefined {
    const value = this.entry(key)?.value;
    return typeof value === 'string' ? value : undefined;
  }

  set(key: string, value: string, expiresAt: number): void {
    this.entries.set(key, { value, expiresAt });
  }

  del(...keys: readonly string[]): void {
    for (const key of keys) this.entries.delete(key);
  }

  /** -1 for a key without expiry. */
  pttl(key: string): number {
    const { expiresAt = -Infinity } = this.entry(key) ?? {};
    return expiresAt === Infinity ? -1 : expiresAt === -Infinity ? -2 : expiresAt - this.now();
  }

  pexpireat(key: string, expiresAt: number): void {
    const entry = this.entry(key);
    if (entry) this.entries.set(key, { ...entry, expiresAt });
  }

  /** Members by score, those of equal score by name. */
  zrange(key: string): [member: string, score: number][] {
    return [...this.members(key)].toSorted(([a, at], [b, bt]) => at - bt || (a < b ? -1 : 1));
  }

  zscore(key: string, member: string): number | undefined {
    return this.members(key).get(member);
  }

  zadd(key: string, score: number, member: string): void {
    const members = this.members(key);
    if (members.size === 0) this.entries.set(key, { value: members, expiresAt: Infinity });
    members.set(member, score);
  }

  /** How many of the members were there. */
  zrem(key: string, ...gone: readonly string[]): number {
    const members = this.members(key);
    const removed = gone.filter((member) => members.delete(member)).length;
    if (members.size === 0) this.del(key);
    return removed;
  }

  flushall(): void {
    this.entries.clear();
  }

  private members(key: string): Map<string, number> {
    const value = this.entry(key)?.value;
    return value instanceof Map ? value : new Map<string, number>();
  }

  private entry(key: string): Entry | undefined {
    const entry = this.entries.get(key);
    if (!entry || entry.expiresAt >= this.now()) return entry;
    this.entries.delete(key);
    return undefined;
  }
}
