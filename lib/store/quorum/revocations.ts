/**
 * Maximum number of remembered revocations without a majority. It exceeds the number of shared holds of an instance.
 */
const MAX_REMEMBERED = 10_000;

/**
 * Counts the nodes that notified of a forced release. One node is not enough: the request may have reached it late,
 * after a majority granted the lock again.
 */
export class Revocations {
  private readonly notifiers = new Map<string, Set<number>>();

  constructor(private readonly majority: number) {}

  /** Records a node's notification; returns whether a majority has notified. */
  record(node: number, owner: string): boolean {
    const notified = this.notifiers.get(owner) ?? new Set();
    notified.add(node);
    this.notifiers.delete(owner);
    if (notified.size >= this.majority) return true;
    this.notifiers.set(owner, notified);
    const [oldest] = this.notifiers.keys();
    if (this.notifiers.size > MAX_REMEMBERED && oldest !== undefined) this.notifiers.delete(oldest);
    return false;
  }
}
