/** More holds than an instance shares; a revocation that some nodes never tell of must not stay for good. */
const MAX_REMEMBERED = 10_000;

/**
 * Which nodes have told that a hold was taken away by force. One alone means nothing: the request may have reached
 * it late, when a majority had long granted the lock again.
 */
export class Revocations {
  private readonly tellers = new Map<string, Set<number>>();

  constructor(private readonly majority: number) {}

  /** Whether this makes a majority. */
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
