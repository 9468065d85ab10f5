import type { LockTimeoutError } from '../../errors/lock-timeout.error.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import { onAbort } from '../../primitives/abandonment.js';
import type { ScheduledCall } from '../../primitives/clock.js';
import type { Grant, Shares, Taken } from '../../store/grant.js';
import { Hold } from '../hold/hold.js';
import type { LocalQueues } from './local-queues.js';
import { next } from './name-machine.js';
import { NameRecord } from './name-record.js';
import type { Effect } from './name-effect.js';
import type { Event } from './name-event.js';
import { IDLE, type State } from './bid.js';
import { Waiter } from './waiter.js';

const DONE = Promise.resolve();

type EffectOf<Kind extends Effect['kind']> = Extract<Effect, { kind: Kind }>;

/**
 * Callers of this process that want one lock name, in arrival order. The machine of the name decides what follows from
 * each event; this shell reports the events, and owns Promises, timers and requests.
 */
export class LocalQueue {
  readonly record: NameRecord;
  private timer: ScheduledCall | undefined;
  /** The state for which the timer is set. */
  private timedState: State = IDLE;

  constructor(
    name: string,
    private readonly queues: LocalQueues<LocalQueue>,
  ) {
    this.record = new NameRecord(name, queues, () => this.report({ kind: 'contended' }));
  }

  /** Waits for the lock. An attempt sends a single request, or none if the lock is known to be taken. */
  enter(options: ResolvedLockOptions): Promise<Hold> {
    return new Promise((resolve, reject) => {
      const now = this.queues.clock.now();
      const waiter = new Waiter(this.record.name, options, now, resolve, reject);
      this.queues.clock.keepAlive(true);
      if (options.signal) this.follow(options.signal, waiter);
      waiter.isCutShort = this.queues.phase !== 'running' && options.wait > 0;
      this.report({ kind: 'enter', waiter }, now);
      if (this.record.line.has(waiter)) this.queues.waits.add(waiter);
    });
  }

  report(event: Event, now?: number): void {
    void this.feed(event, now);
  }

  /** Reports an event, and carries out its effects. Settles with the releases among them. */
  feed(event: Event, now = this.queues.clock.now()): Promise<void> {
    let settled = DONE;
    for (const effect of next(this.record, event, now)) settled = this.carryOut(effect, now, settled);
    if (this.record.state !== this.timedState) this.setTimer(now);
    return settled;
  }

  /** Carries an effect out. Settles with the releases of this event so far. */
  private carryOut(effect: Effect, now: number, settled: Promise<void>): Promise<void> {
    const { record, queues } = this;
    switch (effect.kind) {
      case 'admit':
        this.admit(effect, now);
        break;
      case 'check-outage':
        queues.outages.at(effect.at);
        break;
      case 'acquire':
        this.reportReply(queues.store.acquire(effect.request));
        break;
      case 'share':
        this.reportReply(
          queues.store.share?.(effect.request) ?? Promise.reject(new Error('The store has no shared mode.')),
        );
        break;
      case 'yield':
        this.reportReply(queues.store.yield(effect.request));
        break;
      case 'gather':
        void DONE.then(() => this.report({ kind: 'ask-again' }));
        break;
      case 'cancel':
        void queues.cancel(record.name, effect.waiting, effect.ttl);
        break;
      case 'return': {
        const returned = queues.returnGrants(record.name, effect.grants, effect.ttl);
        if (effect.isAwaited) void returned.then(() => this.report({ kind: 'returned' }));
        break;
      }
      case 'release': {
        const freed = queues.leases.releaseEnded(effect.lease, effect.gap);
        return settled === DONE ? freed : Promise.all([settled, freed]).then(() => undefined);
      }
      case 'reject':
        this.reject(effect);
        break;
      case 'lose':
        effect.lease.hold?.lose(effect.loss);
        break;
      case 'listen':
        queues.store.listen?.(record.name);
        queues.silentHolders.start();
        break;
      case 'drop':
        // A caller that learned of the end of its hold may have requested the name again.
        if (record.state.kind === 'idle' && !record.hasLeases) queues.drop(this);
        break;
    }
    return settled;
  }

  private reportReply(request: Promise<Grant | Taken | Shares | undefined>): void {
    void request.then(
      (reply) => this.report({ kind: 'answer', reply }),
      (error: unknown) => this.report({ kind: 'failed', error }),
    );
  }

  private admit({ lease, renews, token, waiter }: EffectOf<'admit'>, now: number): void {
    const { leases } = this.queues;
    this.endWait(waiter);
    const hold = new Hold(this.record.keys, token, leases, lease, waiter.options, now);
    lease.hold = hold;
    waiter.resolve(hold);
    leases.watch(lease, renews);
  }

  private reject({ error, waiter }: EffectOf<'reject'>): void {
    const { labels } = this.queues;
    this.endWait(waiter);
    if (waiter.options.namesHolder && labels.canName(error)) waiter.resolve(this.named(error));
    else waiter.reject(error);
  }

  private async named(error: LockTimeoutError): Promise<never> {
    throw await this.queues.labels.named(error);
  }

  private follow(signal: AbortSignal, waiter: Waiter): void {
    waiter.unhook = onAbort(signal, () => this.report({ kind: 'leave', waiter, reason: signal.reason }));
  }

  private endWait(waiter: Waiter): void {
    this.queues.clock.keepAlive(false);
    this.queues.waits.delete(waiter);
    waiter.unhook?.();
  }

  /** Sets the timer for the next request, according to the state. */
  private setTimer(now: number): void {
    const { clock } = this.queues;
    const { state } = this.record;
    this.timedState = state;
    clock.cancel(this.timer);
    if (state.kind !== 'queued' && state.kind !== 'unsure') return;
    this.timer = clock.schedule(() => {
      if (state.kind === 'queued') this.queues.store.doubt?.(this.record.name);
      this.report({ kind: 'ask-again' });
    }, state.askAt - now);
  }
}
