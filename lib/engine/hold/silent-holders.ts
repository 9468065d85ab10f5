import type { LockLog } from '../../diagnostics/lock-log.js';
import type { Clock, ScheduledCall } from '../../primitives/clock.js';
import type { LockInfo } from '../../store/lock-snapshot.interface.js';
import type { LockStore } from '../../store/lock-store.js';
import { instanceOf } from '../../store/owner-id.js';
import type { HeldBy, Labels } from './labels.js';

/** Milliseconds between checks of the names with waiters, while all holders answer. */
const INTERVAL = 5_000;
/** Milliseconds until the first check, and between checks while a holder is silent. */
const SHORT_INTERVAL = 1_000;
/** Milliseconds of silence until a name counts as blocked: an event loop may be busy for some time. */
const SILENT_FOR = 1_900;
/** Number of names that one line lists. */
const MAX_NAMES = 5;

/** The hold that blocks a name, with its label if the holder reported it before it fell silent. */
interface Block extends HeldBy {
  readonly label: string | undefined;
}

/**
 * Logs names that callers here wait for while the holder's instance does not answer, and when that has ended.
 *
 * Asks the holders only of names whose owner has not changed since the last check, so hand-offs cost nothing.
 */
export class SilentHolders {
  private timer: ScheduledCall | undefined;
  private isStopped = false;
  /** Labels by owner id, as holders have reported them. */
  private known = new Map<string, string>();
  /** When each silent instance left a question unanswered for the first time. */
  private silent = new Map<string, number>();
  /** The names with waiters at the last check, and their owners. */
  private seen = new Map<string, string | undefined>();
  private readonly blocks = new Map<string, Block>();

  /** @param waited the names with waiters, and their owners as the store last reported them */
  constructor(
    private readonly clock: Clock,
    private readonly store: LockStore,
    private readonly labels: Labels,
    private readonly log: LockLog,
    private readonly waited: () => Iterable<readonly [name: string, owner: string | undefined]>,
  ) {}

  /** Records that a caller waits. */
  start(): void {
    if (!this.timer && this.store.send) this.checkIn(SHORT_INTERVAL);
  }

  stop(): void {
    this.isStopped = true;
    this.clock.cancel(this.timer);
  }

  private checkIn(delay: number): void {
    if (!this.isStopped) this.timer = this.clock.schedule(() => void this.check(), delay);
  }

  private async check(): Promise<void> {
    const waited = new Map(this.waited());
    const names = [...waited].flatMap(([name, owner]) => (this.isSeen(name, owner) ? name : []));
    this.seen = waited;
    // A failed request says nothing about a holder, and its callers report the problem.
    await this.ask([...new Set([...names, ...this.blocks.keys()])]).catch(() => undefined);
    this.timer = undefined;
    const isSoon = this.silent.size > 0;
    if (waited.size > 0 || this.blocks.size > 0) this.checkIn(isSoon ? SHORT_INTERVAL : INTERVAL);
  }

  private isSeen(name: string, owner: string | undefined): boolean {
    return this.seen.has(name) && this.seen.get(name) === owner;
  }

  private async ask(names: readonly string[]): Promise<void> {
    const snapshots = await Promise.all(names.map((name) => this.store.query(name)));
    const held = snapshots.flatMap((each) => each.held);
    const { labels, silent, isSent } = await this.labels.ask(held);
    if (!isSent) return;
    const now = this.clock.now();
    this.silent = new Map([...silent].map((instance) => [instance, this.silent.get(instance) ?? now]));
    this.known = new Map(
      held.flatMap(({ owner }, i) => {
        const label = labels[i] ?? this.known.get(owner);
        return label === undefined ? [] : [[owner, label]];
      }),
    );
    const suspect = held.filter(({ owner }) => silent.has(instanceOf(owner)));
    this.noteEnds(held, suspect);
    this.noteStarts(suspect, now);
  }

  private noteStarts(suspect: readonly LockInfo[], now: number): void {
    const fresh = suspect.filter(({ name }) => !this.blocks.has(name));
    for (const [instance, since] of this.silent) {
      if (now - since < SILENT_FOR) continue;
      const holds = fresh.filter(({ owner }) => instanceOf(owner) === instance);
      for (const { name, owner } of holds)
        this.blocks.set(name, { name, owner, label: this.known.get(owner) });
      const blocks = holds.flatMap(({ name }) => this.blocks.get(name) ?? []);
      if (blocks.length === 0) continue;
      const left = Math.max(...holds.map(({ remaining = Infinity }) => remaining));
      this.log.warn(
        `${subjectOf(blocks)} blocked: ${holderOf(blocks)} has not answered for ${seconds(now - since)}. ` +
          `Callers of this instance wait until the lease ends${left === Infinity ? '' : `, in ${seconds(left)}`} unless renewed.`,
      );
    }
  }

  private noteEnds(held: readonly LockInfo[], suspect: readonly LockInfo[]): void {
    const ended = new Map<string, Block[]>();
    for (const block of this.blocks.values()) {
      if (suspect.some((hold) => isSame(hold, block))) continue;
      this.blocks.delete(block.name);
      const reason = held.some((hold) => isSame(hold, block)) ? 'answers again' : 'no longer holds a lease';
      const outcome = `${holderOf([block])} ${reason}`;
      ended.set(outcome, [...(ended.get(outcome) ?? []), block]);
    }
    for (const [outcome, blocks] of ended)
      this.log.log(`${subjectOf(blocks)} no longer blocked: ${outcome}.`);
  }
}

function isSame(hold: HeldBy, { name, owner }: Block): boolean {
  return hold.name === name && hold.owner === owner;
}

function subjectOf(blocks: readonly Block[]): string {
  const names = blocks.slice(0, MAX_NAMES).map(({ name }) => `"${name}"`);
  const others = blocks.length - names.length;
  const list = `${names.join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
  return blocks.length === 1 ? `Lock ${list} is` : `Locks ${list} are`;
}

function holderOf(blocks: readonly Block[]): string {
  const labels = [...new Set(blocks.flatMap(({ label }) => label ?? []))].slice(0, MAX_NAMES);
  const instance = instanceOf(blocks[0]?.owner ?? '');
  return labels.length === 0 ? instance : `${labels.join(', ')} in ${instance}`;
}

function seconds(ms: number): string {
  return `${Math.max(1, Math.round(ms / 1_000))} s`;
}
