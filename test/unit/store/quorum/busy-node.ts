import type { LuaScript } from '../../../../lib/store/scripts/lua-script.js';
import { NotAsked, type QuorumNode } from '../../../../lib/store/quorum/quorum-node.js';
import type { VirtualTime } from '../../../simulation/virtual-time.js';

/** A node of a quorum on which all names are free, and that does what it is asked one after the other. */
export class BusyNode implements QuorumNode {
  readonly where = 'a busy node';
  readonly clientPrefix = '';
  readonly listening = true;
  readonly trouble = new Error('It is busy.');
  /** Whether it is of no use to take anything there. */
  isAway = false;
  /** Its reply to what takes something, such as for missing permissions. */
  refusal: Error | undefined;
  /** Who has all names there. */
  takenBy: string | undefined;
  /** Whether tokens of others outdate each proposal there. */
  outdates = false;
  /** Whether it answers what ends a hold. */
  confirms = true;
  private readonly asked: string[] = [];
  private doneAt = 0;

  /** @param pace - Milliseconds that each request takes */
  constructor(
    private readonly time: VirtualTime,
    private readonly pace: number,
  ) {}

  /** How often it was asked to run a script. */
  count(script: string): number {
    return this.asked.filter((each) => each === script).length;
  }

  run(
    kind: 'take' | 'end',
    { name }: LuaScript,
    _keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    if (this.isAway && kind === 'take') return Promise.reject(new NotAsked('It is away.'));
    this.asked.push(name);
    this.doneAt = Math.max(this.doneAt, this.time.now) + this.pace;
    const [first, last] = args.slice(1);
    // Outdated is what is proposed before a node has told its time.
    const outcome = this.takenBy === undefined ? (this.outdates || first === 0 ? 2 : 1) : 0;
    const vote = [outcome, 1e15 + this.doneAt * 1_000, last, 30_000, this.takenBy ?? ''];
    const reply = name === 'quorum-acquire' ? vote : 1;
    if (kind === 'end' && !this.confirms) return new Promise(() => undefined);
    const refusal = kind === 'take' ? this.refusal : undefined;
    return new Promise((resolve, reject) => {
      this.time.at(this.doneAt, () => (refusal ? reject(refusal) : resolve(reply)));
    });
  }

  connect(): void {}
  open(): void {}
  close(): void {}
}
