import { EventEmitter, once } from 'node:events';
import { type Ended, type Granted, type Notices, now, type Refused } from '../contender/notices.interface.js';
import type { Topology } from '../contender/topology.js';

const TIMEOUT = 60_000;

/** A grant and how it ended, if it has. */
export interface Hold extends Granted {
  /** Index of the process that holds it. */
  readonly contender: number;
  readonly end?: Ended;
}

/** All that the contenders told, in the order in which it arrived. */
export class Journal {
  private readonly holds = new Map<string, Hold>();
  private readonly refusals: Refused[] = [];
  private readonly news = new EventEmitter();

  constructor(private readonly signal: AbortSignal) {}

  /** What the contender of that index may call. */
  noticesOf(contender: number): Notices {
    return {
      granted: (granted) => this.note(() => this.holds.set(keyOf(granted), { ...granted, contender })),
      ended: (end) => this.note(() => this.end(end)),
      refused: (refused) => this.note(() => this.refusals.push(refused)),
    };
  }

  /** Holds in the order of their grants. */
  holdsOf(topology: Topology): readonly Hold[] {
    const holds = [...this.holds.values()].filter((hold) => hold.topology === topology);
    return holds.toSorted((a, b) => a.at - b.at);
  }

  refusalsOf(topology: Topology): readonly Refused[] {
    return this.refusals.filter((refused) => refused.topology === topology);
  }

  /** When the last hold that has ended did so. */
  endOf(topology: Topology): number | undefined {
    return this.holdsOf(topology).findLast(({ end }) => end !== undefined)?.end?.at;
  }

  /** Waits until so many more locks than now were granted to that contender. */
  async granted(topology: Topology, contender: number, more: number): Promise<void> {
    const count = (): number => this.holdsOf(topology).filter((hold) => hold.contender === contender).length;
    const before = count();
    await this.until(`${more} grants on ${topology}`, () => count() >= before + more);
  }

  /** Waits until so many more calls than now were refused. */
  async refused(topology: Topology, more: number): Promise<void> {
    const before = this.refusalsOf(topology).length;
    await this.until(
      `${more} refusals on ${topology}`,
      () => this.refusalsOf(topology).length >= before + more,
    );
  }

  /**
   * Waits until calls are refused from now on, and then until one is granted again. Resolves to when that was.
   *
   * News of earlier grants may still be on their way, so it goes by their times.
   */
  async recovered(topology: Topology): Promise<number> {
    const refused = await this.after(now(), `a refusal on ${topology}`, () => this.refusalsOf(topology));
    return this.after(refused, `a grant on ${topology} after that`, () => this.holdsOf(topology));
  }

  private async after(
    time: number,
    what: string,
    events: () => readonly { readonly at: number }[],
  ): Promise<number> {
    const first = (): number | undefined => events().find(({ at }) => at > time)?.at;
    await this.until(what, () => first() !== undefined);
    return first() ?? time;
  }

  private async until(what: string, condition: () => boolean): Promise<void> {
    const signal = AbortSignal.any([this.signal, AbortSignal.timeout(TIMEOUT)]);
    while (!condition()) {
      await once(this.news, 'told', { signal }).catch((cause: unknown) => {
        throw new Error(`Waited in vain for ${what}`, { cause });
      });
    }
  }

  private end(end: Ended): void {
    const hold = this.holds.get(keyOf(end));
    if (hold) this.holds.set(keyOf(end), { ...hold, end });
  }

  private note(change: () => void): void {
    change();
    this.news.emit('told');
  }
}

function keyOf({ topology, token }: Granted): string {
  return `${topology} ${token}`;
}
