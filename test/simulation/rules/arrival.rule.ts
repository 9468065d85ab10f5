import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import type { Attempt } from '../attempt.js';
import { instanceOf } from '../../../lib/store/owner-id.js';
import { ownerOf } from '../part-of-lock.js';
import type { Court, Rule } from './court.js';

/** The place of an instance in the queue of a name. */
interface Arrival {
  readonly order: number;
  /** The callers for whom it was taken. */
  readonly callers: readonly Attempt[];
}

/**
 * On one Redis, instances that stay alive are served in the order in which their requests reached the queue. An instance may
 * serve several of its callers in one turn.
 */
export class ArrivalRule implements Rule {
  /** By name and instance. */
  private readonly arrivals = new Map<string, Map<string, Arrival>>();
  /** The place for which the server granted a name to an owner id, or when it did so without one. */
  private readonly grants = new Map<string, Map<string, number>>();
  private readonly lastOwner = new Map<string, string | undefined>();
  private count = 0;

  constructor(private readonly court: Court) {}

  granted({ caller, step: { name } }: Attempt, lock: Lock): void {
    const { expectations, attempts, fail } = this.court;
    if (!expectations.ordered) return;
    const [instance = ''] = caller;
    const owner = ownerOf(lock);
    const arrivals = this.arrivalsOf(name);
    const own = this.grants.get(name)?.get(owner ?? '') ?? arrivals.get(instance)?.order ?? Infinity;
    const isNextInTurn = owner !== undefined && owner === this.lastOwner.get(name);
    arrivals.delete(instance);
    this.lastOwner.set(name, owner);
    const isShared = attempts.some(({ names, step }) => names.includes(name) && step.limit !== undefined);
    if (isNextInTurn || isShared) return;
    for (const [other, { order, callers }] of arrivals)
      if (order < own && callers.some(isWaiting))
        fail(`${caller} was granted ${name} before ${other}, which came earlier`);
  }

  afterEvent(): void {
    const { expectations, names, servers } = this.court;
    if (!expectations.ordered) return;
    for (const name of names) {
      const { held, pending } = servers.query(name);
      this.noteGrants(
        name,
        held.map(({ owner }) => owner),
      );
      const arrivals = this.arrivalsOf(name);
      const queue = pending.map(({ owner }) => owner);
      for (const [instance, { callers }] of arrivals)
        if (!callers.some(isWaiting) && !queue.includes(instance)) arrivals.delete(instance);
      for (const instance of queue) {
        if (arrivals.has(instance)) continue;
        arrivals.set(instance, { order: ++this.count, callers: this.waitersOf(name, instance) });
      }
    }
  }

  private noteGrants(name: string, owners: readonly string[]): void {
    const before = this.grants.get(name);
    const arrivals = this.arrivalsOf(name);
    const orderOf = (owner: string): number =>
      before?.get(owner) ?? arrivals.get(instanceOf(owner))?.order ?? ++this.count;
    this.grants.set(name, new Map(owners.map((owner) => [owner, orderOf(owner)])));
  }

  private arrivalsOf(name: string): Map<string, Arrival> {
    let arrivals = this.arrivals.get(name);
    if (!arrivals) this.arrivals.set(name, (arrivals = new Map()));
    return arrivals;
  }

  private waitersOf(name: string, instance: string): Attempt[] {
    return this.court.attempts.filter(
      (attempt) => isWaiting(attempt) && attempt.names.includes(name) && attempt.caller[0] === instance,
    );
  }
}

function isWaiting({ state, process }: Attempt): boolean {
  return state === 'waiting' && process.alive;
}
