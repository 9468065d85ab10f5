/** Maximum number of remembered subjects without a majority. It exceeds the number of holds of an instance. */
const MAX_REMEMBERED = 10_000;

/** Counts the nodes that have sent a message about a subject, such as the release of a name, until a majority has. */
export class Notices {
  private readonly senders = new Map<string, Set<number>>();

  constructor(private readonly majority: number) {}

  /** Records a node's message; returns whether a majority has sent it, and then forgets the subject. */
  record(subject: string, node: number): boolean {
    const senders = this.senders.get(subject) ?? new Set();
    senders.add(node);
    this.senders.delete(subject);
    if (senders.size >= this.majority) return true;
    this.senders.set(subject, senders);
    const [oldest] = this.senders.keys();
    if (this.senders.size > MAX_REMEMBERED && oldest !== undefined) this.senders.delete(oldest);
    return false;
  }

  forget(subject: string): void {
    this.senders.delete(subject);
  }
}
