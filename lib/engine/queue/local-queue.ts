import type { LockHolder, LockTimeoutError } from '../../errors/lock-timeout.error.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import type { Clock, ScheduledCall } from '../../primitives/clock.js';
import type { Deadlines } from '../../primitives/deadlines.js';
import { onAbort } from '../../primitives/abandonment.js';
import type { WakeUp } from '../../primitives/wake-up.js';
import type { Grant, Taken } from '../../store/grant.js';
import type { LockStore } from '../../store/lock-store.js';
import { ownersOf } from '../../store/owner-id.js';
import { parsePlace } from '../../store/place.js';
import { Hold } from '../hold/hold.js';
import type { Labels } from '../hold/labels.js';
import type { Lease, LeaseUser } from '../hold/lease.js';
import type { Leases } from '../hold/leases.js';
import { timeoutError, unavailableError } from '../lock-errors.js';
import { next } from './name-machine.js';
import { type Effect, Name, type Rules, Step } from './name.js';
import { type Event, never } from './name-event.js';
import { IDLE, type State } from './turn.js';
import { Waiter, type WaitingLine } from './waiter.js';

const DONE = Promise.resolve();
const NONE: readonly Effect[] = [];

type EffectOf<Kind extends Effect['kind']> = Extract<Effect, { kind: Kind }>;

/** The services that all local queues of one instance share. */
export interface QueueContext extends Rules {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly leases: Leases;
  /** Watches unanswered requests of all queues with one timer. An answered request costs nothing. */
  readonly outages: WakeUp;
  readonly waits: Deadlines<Waiter>;
  readonly labels: Labels;
  /** The highest token that `spend` recorded. */
  readonly highestSpentToken: number;
  /**
   * Records the token of a lease that has ended here, so that the store does not adopt it as a grant with a lost reply.
   */
  spend(name: string, token: number): void;
  /** Releases a grant that no caller wants, and never adopts it again. Its lease runs for at most `ttl` ms. */
  giveBack(name: string, grant: Grant, ttl: number): void;
  /**
   * Leaves the store's queue, and releases a grant that was on its way, with a lease of at most `ttl` ms. Never
   * rejects.
   */
  cancel(name: string, place: string, ttl: number): Promise<void>;
  /** Forgets an idle queue. */
  drop(queue: LocalQueue): void;
}

/**
 * Callers of this process that want one lock name, in arrival order. The machine of the name decides what follows from
 * each event; this shell reports the events, and owns Promises, timers and requests.
 */
export class LocalQueue {
  private readonly state: Name;
  private timer: ScheduledCall | undefined;
  /** The state for which the timer is set. */
  private timedState: State = IDLE;
  /** Settles the release of the last reader, whose lease is kept as a spare. */
  private settleSpares: () => void = () => undefined;

  constructor(
    readonly name: string,
    private readonly context: QueueContext,
  ) {
    this.state = new Name(name, context);
  }

  get line(): WaitingLine {
    return this.state.line;
  }

  get isTaken(): boolean {
    return this.state.isTaken;
  }

  get holders(): readonly LeaseUser[] {
    return this.state.leases.flatMap(({ holds }) => holds);
  }

  leaseOf(owner: string): Lease | undefined {
    return this.state.leaseOf(owner);
  }

  /** Whether callers here wait at a place in the store's queue, or have holds that a late leave would end. */
  needs(place: string): boolean {
    const part = parsePlace(place).shared?.turn;
    const { sharing, turn } = this.state;
    return turn?.waitsAt(place, part) === true || (part !== undefined && sharing?.hasAnyFrom(part) === true);
  }

  /** Whether the next exclusive turn finds what another turn left behind, or may be it. */
  get isAlone(): boolean {
    return this.state.alone !== undefined || this.state.wantsToBeAlone;
  }

  /** Whether a grant of this owner id is, or may become, a lease of this queue. */
  mayUse(owner: string): boolean {
    return this.state.wantsToBeAlone || this.leaseOf(owner) !== undefined;
  }

  /** Waits for the lock. An attempt sends a single request, or none if the lock is known to be taken. */
  enter(options: ResolvedLockOptions): Promise<Hold> {
    return new Promise((resolve, reject) => {
      const now = this.context.clock.now();
      const waiter = new Waiter(this.name, options, now, resolve, reject);
      const { signal } = options;
      if (signal)
        waiter.detach = onAbort(signal, () => this.report({ kind: 'leave', waiter, reason: signal.reason }));
      this.report({ kind: 'enter', waiter }, now);
    });
  }

  report(event: Event, now?: number): void {
    void this.feed(event, now);
  }

  spend(token: number): void {
    next(new Step(this.state, 0), { kind: 'spent', token });
  }

  /** Reports an event, and carries out its effects. Settles with the releases among them. */
  feed(event: Event, now = this.context.clock.now()): Promise<void> {
    const step = new Step(this.state, now);
    next(step, event);
    let settled = DONE;
    if (step.first) settled = this.carryOut(step.first, now, settled);
    for (const effect of step.others ?? NONE) settled = this.carryOut(effect, now, settled);
    const { outages, waits } = this.context;
    // An earlier effect may have ended its wait.
    if (step.watched?.isWaiting) waits.add(step.watched);
    outages.at(step.outageAt);
    if (this.state.state !== this.timedState) this.setTimer(now);
    return settled;
  }

  /** Carries an effect out. Settles with the releases of this event so far. */
  private carryOut(effect: Effect, now: number, settled: Promise<void>): Promise<void> {
    const { context, name } = this;
    switch (effect.kind) {
      case 'admit':
        this.admit(effect, now);
        break;
      case 'acquire':
        this.acquire(effect);
        break;
      case 'yield':
        this.yield(effect);
        break;
      case 'gather':
        void DONE.then(() => this.report({ kind: 'gathered' }));
        break;
      case 'cancel':
        void context.cancel(name, effect.place, effect.ttl);
        break;
      case 'give-back':
        context.giveBack(name, effect.grant, effect.ttl);
        break;
      case 'return':
        void this.return(effect).then(() => this.report({ kind: 'returned' }));
        break;
      case 'spend':
        context.spend(name, effect.token);
        break;
      case 'end':
        context.leases.keeper.delete(effect.lease);
        context.spend(name, effect.lease.token);
        break;
      case 'free': {
        const freed = context.leases.free(effect.lease);
        return settled === DONE ? freed : Promise.all([settled, freed]).then(() => undefined);
      }
      case 'reject':
        this.reject(effect.waiter, effect.error);
        break;
      case 'time-out':
        this.rejectLate(effect, now);
        break;
      case 'unavailable':
        this.rejectUnavailable(effect, now);
        break;
      case 'lose':
        effect.lease.loseHolds(effect.error);
        break;
      case 'listen':
        context.store.listen?.(name);
        break;
      case 'keep-spares':
        context.clock.afterInput(() => this.report({ kind: 'spares-unused' }));
        break;
      case 'hold-back':
        this.settleSpares();
        return new Promise((resolve) => (this.settleSpares = resolve));
      case 'settle-spares':
        void settled.then(this.settleSpares);
        break;
      case 'drop':
        // A caller that learned of the end of its hold may have requested the name again.
        if (this.state.state.kind === 'idle' && !this.state.hasLeases) context.drop(this);
        break;
      default:
        never(effect);
    }
    return settled;
  }

  private acquire({ head, place, shared, spentOfName, tokens }: EffectOf<'acquire'>): void {
    const { highestSpentToken: spent, store } = this.context;
    const { ttl, replicas } = head.options;
    const { name } = this;
    const onContention = (): void => this.report({ kind: 'contended' });
    this.hear(
      store.acquire({
        name,
        ttl,
        tokens,
        shared,
        place,
        spent,
        spentOfName,
        replicas,
        onContention,
      }),
    );
  }

  private yield({ head, lease, place, tokens }: EffectOf<'yield'>): void {
    const { leases, store } = this.context;
    const { ttl, replicas } = head.options;
    leases.keeper.delete(lease);
    this.hear(store.yield({ name: this.name, owner: lease.owner, ttl, tokens, place, replicas }));
  }

  private hear(request: Promise<Grant | Taken | undefined>): void {
    void request.then(
      (reply) => this.report({ kind: 'answer', reply }),
      (error: unknown) => this.report({ kind: 'failed', error }),
    );
  }

  private async return({ grant, place, ttl }: EffectOf<'return'>): Promise<void> {
    const { context, name } = this;
    if (place !== undefined) return context.cancel(name, place, ttl);
    await Promise.all(ownersOf(grant).map((owner) => context.leases.cleanUps.free(name, owner, ttl)));
  }

  private admit({ lease, renews, token, waiter }: EffectOf<'admit'>, now: number): void {
    const { leases, waits } = this.context;
    waits.delete(waiter);
    const hold = new Hold([this.name], token, leases, lease, waiter.options, now);
    lease.holds = [hold];
    waiter.grant(hold);
    leases.keeper.add(lease);
    if (renews) leases.keeper.renewSoon(lease);
  }

  private reject(waiter: Waiter, error: unknown): void {
    this.context.waits.delete(waiter);
    waiter.reject(error);
  }

  private rejectUnavailable({ cause, waiter }: EffectOf<'unavailable'>, now: number): void {
    const call = { waited: now - waiter.startedAt, label: waiter.options.label };
    this.reject(waiter, unavailableError([this.name], cause ?? this.context.store.trouble, call));
  }

  /** Another holder had the lock for the whole wait; the error names it. */
  private rejectLate({ by, found, waiter }: EffectOf<'time-out'>, now: number): void {
    const { labels, waits } = this.context;
    const { options, startedAt } = waiter;
    let holder: LockHolder | undefined = found && { owner: found.owner, remaining: found.remaining };
    if (by) {
      const label = by.holds[0]?.describe(now).label;
      const remaining = Math.max(0, by.deadline - now);
      holder = { owner: by.owner, remaining, ...(label === undefined ? {} : { label }) };
    }
    // Assumes that holders elsewhere use the same `renew` as this caller.
    const error = timeoutError([this.name], now - startedAt, holder, (by ?? options).renew, options.label);
    waits.delete(waiter);
    if (options.namesHolder && labels.canName(error)) waiter.rejectLater(this.named(error));
    else waiter.reject(error);
  }

  private async named(error: LockTimeoutError): Promise<never> {
    throw await this.context.labels.named(error);
  }

  /** Sets the timer for the next request, according to the state. */
  private setTimer(now: number): void {
    const { clock } = this.context;
    const { state } = this.state;
    this.timedState = state;
    clock.cancel(this.timer);
    if (state.kind !== 'queued' && state.kind !== 'unsure') return;
    this.timer = clock.schedule(() => this.report({ kind: 'timer' }), state.askAt - now);
  }
}
