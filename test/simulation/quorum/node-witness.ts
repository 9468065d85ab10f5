import type { MemoryNode } from './memory-node.js';

/** Passes on what a node is asked, and sees whether it grants a token again that was released there. */
export class NodeWitness {
  /** The owner id that came back. */
  revived: string | undefined;
  /** By lock and instance: the highest token that was released. */
  private readonly released = new Map<string, number>();

  constructor(private readonly node: MemoryNode) {}

  run(script: string, keys: readonly string[], args: readonly (string | number)[]): unknown {
    const reply = this.node.run(script, keys, args);
    const [lock = ''] = keys;
    const [instance, token] = args;
    if (script === 'quorum-release') {
      const ended = `${lock} ${instance}`;
      this.released.set(ended, Math.max(Number(token), this.released.get(ended) ?? 0));
    } else if (script === 'quorum-acquire') this.look(lock);
    return reply;
  }

  flush(): void {
    this.released.clear();
    this.node.flush();
  }

  private look(lock: string): void {
    const [, owner] = this.node.query([lock]) as [unknown, string | null];
    const [, instance, token = '0'] = /^(.+):(\d+)$/.exec(owner ?? '') ?? [];
    const released = this.released.get(`${lock} ${instance}`) ?? 0;
    if (Number(token) > 0 && Number(token) <= released) this.revived ??= owner ?? undefined;
  }
}
