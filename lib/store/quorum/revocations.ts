/**
 * Maximum number of remembered revocations without a majority. It exceeds the number of shared holds of an instance.
 */
const MAX_REMEMBERED = 10_000;

/**
 * Counts the nodes that notified of a forced release. One node is not enough: the request may have reached it late,
 * after a majority granted the lock again.
 */
export class Revocations {
  private readonly tellers = new Map<string, Set<number>>();

  constructor(private readonly majority: number) {}

  /** Records a node's notification; returns whether a majority has notified. */
  hear(node: number, owner: string): boolean {
    const told = this.tellers.get(owner) ?? new Set();
    told.add(node);
    this.tellers.delete(owner);
    if (told.size >= this.majority) return true;
    this.tellers.set(owner, told);
    const [oldest] = this.tellers.keys();
    if (this.tellers.size > MAX_REMEMBERED && oldest !== undefined) this.tellers.delete(oldest);
    return false;
  }
}
