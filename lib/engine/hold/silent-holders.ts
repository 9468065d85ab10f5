import type { LockLog } from '../../diagnostics/lock-log.js';
import type { Clock, ScheduledCall } from '../../primitives/clock.js';
import { SHARED_OWNER, type Taken } from '../../store/grant.js';
import type { LockInfo } from '../../store/lock-snapshot.interface.js';
import type { LockStore } from '../../store/lock-store.js';
import { instanceOf } from '../../store/owner-id.js';
import type { HeldBy, Labels } from './labels.js';

/** Maximum milliseconds between checks of the names with waiters, and milliseconds until a new holder is asked. */
const INTERVAL = 5_000;
/** Maximum milliseconds until a holder that answered is asked again. */
const LONGEST_INTERVAL = 15_000;
/** Milliseconds until the first check, between checks while a holder is silent, and at least between others. */
const SHORT_INTERVAL = 1_000;
/** Milliseconds of silence until a name counts as blocked: an event loop may be busy for some time. */
const SILENT_FOR = 1_900;
/** Number of names that one line lists. */
const MAX_NAMES = 5;

/** A name with waiters. */
interface Watch {
  /** As the store last reported it. */
  readonly owner: string | undefined;
  /** When its holders are asked whether they answer. */
  askAt: number;
  /** Its holds at the last check, with the labels that the holders have reported. */
  holds: readonly WatchedHold[];
}

type WatchedHold = Pick<LockInfo, 'name' | 'owner' | 'remaining' | 'label'>;

/**
 * Logs names that callers here wait for while the holder's instance does not answer, and when that has ended.
 *
 * Asks the holders only of names whose owner has not changed for some time, so hand-offs cost nothing. A holder that
 * answered is asked again when half of the lease is left that it had then.
 */
export class SilentHolders {
  private timer: ScheduledCall | undefined;
  private isStopped = false;
  /** When each silent instance left a question unanswered for the first time. */
  private silent = new Map<string, number>();
  private watched = new Map<string, Watch>();
  /** By name: the hold that blocks it, with its label if the holder reported it before it fell silent. */
  private readonly blocks = new Map<string, WatchedHold>();

  /** @param waited the names with waiters, and the last replies of the store that they are taken */
  constructor(
    private readonly clock: Clock,
    private readonly store: LockStore,
    private readonly labels: Labels,
    private readonly log: LockLog,
    private readonly waited: () => Iterable<readonly [name: string, taken: Taken]>,
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
    const now = this.clock.now();
    const waited = new Map(this.waited());
    this.watched = new Map([...waited].map(([name, { owner }]) => [name, this.watchOf(name, owner, now)]));
    const due = [...this.watched].filter(([, { askAt }]) => askAt <= now);
    for (const [, watch] of due) watch.askAt = now + INTERVAL;
    const names = due.map(([name]) => name);
    // A failed request says nothing about a holder, and its callers report the problem.
    await this.ask([...new Set([...names, ...this.blocks.keys()])], waited).catch(() => undefined);
    this.timer = undefined;
    if (waited.size > 0 || this.blocks.size > 0) this.checkIn(this.delayAt(this.clock.now()));
  }

  /** Milliseconds until the next check. */
  private delayAt(now: number): number {
    if (this.silent.size > 0) return SHORT_INTERVAL;
    let next = now + INTERVAL;
    for (const { askAt } of this.watched.values()) if (askAt < next) next = askAt;
    return Math.max(SHORT_INTERVAL, next - now);
  }

  private watchOf(name: string, owner: string | undefined, now: number): Watch {
    const known = this.watched.get(name);
    return known && known.owner === owner ? known : { owner, askAt: now + INTERVAL, holds: [] };
  }

  private async ask(names: readonly string[], waited: ReadonlyMap<string, Taken>): Promise<void> {
    const found = await Promise.all(names.map((name) => this.holdsOf(name, waited.get(name))));
    const { labels, silent, isSent } = await this.labels.ask(found.flat());
    if (!isSent) return;
    const now = this.clock.now();
    this.silent = new Map([...silent].map((instance) => [instance, this.silent.get(instance) ?? now]));
    const answers = labels.values();
    const held = found.flatMap((each, i) => {
      const watch = this.watched.get(names[i] ?? '');
      const holds = each.map((hold): WatchedHold => {
        const before = watch?.holds.find(({ owner }) => owner === hold.owner);
        return { ...hold, label: answers.next().value ?? before?.label };
      });
      const delays = holds.map(({ owner, remaining = Infinity }) =>
        silent.has(instanceOf(owner)) ? 0 : Math.max(INTERVAL, remaining / 2),
      );
      if (watch) {
        watch.holds = holds;
        watch.askAt = now + Math.min(LONGEST_INTERVAL, ...delays);
      }
      return holds;
    });
    const suspect = held.filter(({ owner }) => silent.has(instanceOf(owner)));
    this.noteEnds(held, suspect);
    this.noteStarts(suspect, now);
  }

  /** The holds of a name: as last reported while the holder answers, as the store has them now otherwise. */
  private async holdsOf(name: string, taken: Taken | undefined): Promise<readonly WatchedHold[]> {
    const { owner = SHARED_OWNER, remaining = 0 } = taken ?? {};
    const isUnsure = owner === SHARED_OWNER || this.silent.has(instanceOf(owner)) || this.blocks.has(name);
    return isUnsure ? (await this.store.operations.query(name)).held : [{ name, owner, remaining }];
  }

  private noteStarts(suspect: readonly WatchedHold[], now: number): void {
    const fresh = suspect.filter(({ name }) => !this.blocks.has(name));
    for (const [instance, since] of this.silent) {
      if (now - since < SILENT_FOR) continue;
      const holds = fresh.filter(({ owner }) => instanceOf(owner) === instance);
      for (const hold of holds) this.blocks.set(hold.name, hold);
      const blocks = holds.flatMap(({ name }) => this.blocks.get(name) ?? []);
      if (blocks.length === 0) continue;
      const left = Math.max(...holds.map(({ remaining = Infinity }) => remaining));
      this.log.warn(
        `${subjectOf(blocks)} blocked: ${holderOf(blocks)} has not answered for ${seconds(now - since)}. ` +
          `Callers of this instance wait until the lease ends${left === Infinity ? '' : `, in ${seconds(left)}`} unless renewed.`,
      );
    }
  }

  private noteEnds(held: readonly WatchedHold[], suspect: readonly WatchedHold[]): void {
    const ended = new Map<string, WatchedHold[]>();
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

function isSame(hold: HeldBy, { name, owner }: HeldBy): boolean {
  return hold.name === name && hold.owner === owner;
}

function subjectOf(blocks: readonly WatchedHold[]): string {
  const names = blocks.slice(0, MAX_NAMES).map(({ name }) => `"${name}"`);
  const others = blocks.length - names.length;
  const list = `${names.join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
  return blocks.length === 1 ? `Lock ${list} is` : `Locks ${list} are`;
}

function holderOf(blocks: readonly WatchedHold[]): string {
  const labels = [...new Set(blocks.flatMap(({ label }) => label ?? []))].slice(0, MAX_NAMES);
  const instance = instanceOf(blocks[0]?.owner ?? '');
  return labels.length === 0 ? instance : `${labels.join(', ')} in ${instance}`;
}

function seconds(ms: number): string {
  return `${Math.max(1, Math.round(ms / 1_000))} s`;
}
