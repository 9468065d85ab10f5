import { closedError, expiredError, takenError } from '../../lib/engine/lock-errors.js';
import type { Lease } from '../../lib/engine/hold/lease.js';
import { next } from '../../lib/engine/queue/name-machine.js';
import { type Effect, Name, type Rules, Step } from '../../lib/engine/queue/name.js';
import { type Event, never } from '../../lib/engine/queue/name-event.js';
import { Waiter } from '../../lib/engine/queue/waiter.js';
import type { LockOptions, ResolvedLockOptions } from '../../lib/options/lock-options.interface.js';
import { LOCK_OPTION_DEFAULTS, resolveLockOptions } from '../../lib/options/lock-options.js';
import type { Grant } from '../../lib/store/grant.js';
import type { AcquireRequest, Extension, StoreEvents, YieldRequest } from '../../lib/store/lock-store.js';
import { MemoryInboxes } from '../../lib/store/memory/memory-inboxes.js';
import { MemoryLockServer } from '../../lib/store/memory/memory-lock-server.js';
import { ownersOf, tokenOf } from '../../lib/store/owner-id.js';
import { formatPlace, parsePlace } from '../../lib/store/place.js';
import { sure } from './sure.js';

export const NAME = 'n';
/** Milliseconds of every lease. */
export const TTL = 100;
/** Longest wait of a caller, and longest wait without an answer. */
export const PATIENCE = 350;
const LOST = new Error('The connection was lost.');
const ABORTED = new Error('The caller has aborted.');
const PATIENT = { ttl: TTL, wait: PATIENCE, outageTimeout: PATIENCE };
const INSTANCES = ['a', 'b'];

/** What an instance sends to the server. */
export type Request =
  | { readonly kind: 'acquire'; readonly request: AcquireRequest }
  | { readonly kind: 'yield'; readonly request: YieldRequest }
  | { readonly kind: 'extend'; readonly lease: Lease; readonly request: Extension; readonly sentAt: number }
  /** Repeated until it is confirmed or `until` has passed. */
  | { readonly kind: 'release'; readonly owner: string; readonly ttl: number; until: number }
  | { readonly kind: 'cancel'; readonly place: string; readonly ttl: number; until: number };

/** The answer to a request; `failed` where none came. */
export interface Reply {
  readonly to: Request;
  readonly failed: boolean;
  readonly result?: unknown;
}

export type Message =
  | { readonly kind: 'granted'; readonly grant: Grant; readonly claimTtl: number }
  | { readonly kind: 'revoked'; readonly owner: string }
  | { readonly kind: 'asked'; readonly place: string };

export interface Caller {
  readonly at: number;
  readonly options: ResolvedLockOptions;
  phase: 'new' | 'waits' | 'holds' | 'lost' | 'done';
  waiter?: Waiter | undefined;
  isWatched?: boolean;
  lease?: Lease | undefined;
  /** Whether its hold was seen as over. */
  isOver: boolean;
}

/** One process: the machine of the name, and what is on its way between it and the server, in order. */
export interface Instance {
  readonly id: string;
  name: Name;
  spent: number;
  turns: number;
  isClosing: boolean;
  outageAt: number;
  /** Whether spare leases are kept until the end of the tick. */
  hasSpares: boolean;
  requests: Request[];
  replies: Reply[];
  messages: Message[];
  /** Copies of requests that were given up or answered. They may arrive at any time. */
  late: Request[];
}

/** Delivers messages to the world that is being changed. */
class WorldInboxes extends MemoryInboxes {
  override tell(id: string, message: (inbox: StoreEvents) => void): boolean {
    if (!this.has(id)) return false;
    const { messages } = sure(current.instances[INSTANCES.indexOf(id)]);
    const events: Partial<StoreEvents> = {
      granted: (_, grant, claimTtl) => void messages.push({ kind: 'granted', grant, claimTtl }),
      revoked: (_, owner) => void messages.push({ kind: 'revoked', owner }),
      askedIfWaiting: (_, place) => void messages.push({ kind: 'asked', place }),
    };
    message(events as StoreEvents);
    return true;
  }
}

class WorldServer extends MemoryLockServer {
  override readonly inboxes = new WorldInboxes();
}

const nothing = (): void => undefined;
const NO_EVENTS = Object.freeze({}) as StoreEvents;

/** The rules and the server's clock are functions, which copies share: they speak of this world. */
let current: World;

const RULES: readonly Rules[] = INSTANCES.map((id, i) =>
  Object.freeze({
    handoff: Object.freeze({ max: 2, window: 20 }),
    maxWaiters: 10,
    store: Object.freeze({
      canQueue: () => current.server.inboxes.has(id),
      place: ((claimTtl, tokens, shared) =>
        formatPlace({ instance: id, claimTtl, tokens, shared })) satisfies Rules['store']['place'],
    }),
    newTurn: (each: number) => `s${each > 1 ? `0${each}t` : ''}${++sure(current.instances[i]).turns}`,
  }),
);

/** The state of all instances, of the server and of the network between them: plain data that can be copied. */
export class World {
  now = 1_000;
  readonly server = new WorldServer(() => current.now);
  readonly instances: Instance[] = [];
  readonly callers: Caller[] = [];
  readonly revoked = new Set<string>();
  readonly tokens: number[] = [];
  spentOn = { fault: 0, tick: 0, abort: 0, force: 0, close: 0 };
  /** Whether a request has run that its instance no longer knows. */
  hasRunLate = false;
  problem = '';

  constructor(instances: number, callers: readonly (LockOptions & { readonly at: number })[]) {
    for (const id of INSTANCES.slice(0, instances)) {
      const i = this.instances.length;
      this.server.inboxes.open(id, NO_EVENTS);
      this.instances.push({
        id,
        name: new Name(NAME, sure(RULES[i])),
        spent: 0,
        turns: 0,
        isClosing: false,
        outageAt: Infinity,
        hasSpares: false,
        requests: [],
        replies: [],
        messages: [],
        late: [],
      });
    }
    for (const { at, ...options } of callers)
      this.callers.push({
        at,
        options: Object.freeze(resolveLockOptions(LOCK_OPTION_DEFAULTS, { ...PATIENT, ...options })),
        phase: 'new',
        isOver: false,
      });
  }

  /** Makes this the world of which the shared functions speak. */
  enter(): void {
    // oxlint-disable-next-line typescript/no-this-alias -- It is a variable of the module.
    current = this;
  }

  callerEnters(caller: Caller): void {
    const instance = sure(this.instances[caller.at]);
    if (instance.isClosing) return void (caller.phase = 'done');
    caller.phase = 'waits';
    const { options } = caller;
    caller.waiter = new Waiter(NAME, options, this.now, nothing, nothing);
    this.feed(instance, { kind: 'enter', waiter: caller.waiter });
  }

  callerLeaves({ at, waiter }: Caller): void {
    this.feed(sure(this.instances[at]), { kind: 'leave', waiter: sure(waiter), reason: ABORTED });
  }

  callerReleases(caller: Caller): void {
    const instance = sure(this.instances[caller.at]);
    const lease = sure(caller.lease);
    caller.phase = 'done';
    caller.lease = caller.waiter = undefined;
    if (lease.live) this.feed(instance, { kind: 'released', lease });
    else if (!lease.gone) this.free(instance, lease);
  }

  closes(instance: Instance): void {
    instance.isClosing = true;
    this.feed(instance, { kind: 'reject-all', error: () => closedError([NAME]) });
  }

  /** The server runs a request. */
  execute({ id }: Instance, request: Request): unknown {
    switch (request.kind) {
      case 'acquire':
        return this.server.acquire(id, request.request);
      case 'yield':
        return this.server.yield(request.request);
      case 'extend':
        return this.server.extend(request.request);
      case 'release':
        return this.server.release(NAME, request.owner);
      case 'cancel':
        return this.server.cancel(id, NAME, request.place);
      default:
        return never(request);
    }
  }

  /** An instance gets the first answer on its way. */
  hear(instance: Instance): void {
    const { to, failed, result } = sure(instance.replies.shift());
    switch (to.kind) {
      case 'acquire':
      case 'yield':
        return this.feed(
          instance,
          failed
            ? { kind: 'failed', error: LOST }
            : { kind: 'answer', reply: result as Extract<Event, { kind: 'answer' }>['reply'] },
        );
      case 'extend':
        return failed ? undefined : this.hearExtension(instance, to, result as number);
      case 'release':
      case 'cancel':
        if (failed) return this.cleanAgain(instance, to);
        if (to.kind === 'cancel') this.hearCancel(instance, result as string | undefined);
    }
  }

  /** An instance gets the first message on its way, as `LockEngine` does. */
  getsMessage(instance: Instance): void {
    const message = sure(instance.messages.shift());
    const { name } = instance;
    if (message.kind !== 'asked') return this.feed(instance, message);
    const { place } = message;
    const part = parsePlace(place).shared?.turn;
    const isNeeded = name.turn?.waitsAt(place, part) || (part && name.sharing?.hasAnyFrom(part));
    if (!isNeeded) this.cancel(instance, place, 0);
  }

  /** Does as `LocalQueue` does: reports an event to the machine, and carries out what follows. */
  feed(instance: Instance, event: Event): void {
    const step = new Step(instance.name, this.now);
    next(step, event);
    for (const effect of [step.first, ...(step.others ?? [])]) if (effect) this.carryOut(instance, effect);
    instance.outageAt = Math.min(instance.outageAt, step.outageAt);
    const watched = this.callers.find(({ waiter }) => waiter && waiter === step.watched);
    if (watched?.phase === 'waits') watched.isWatched = true;
  }

  private carryOut(instance: Instance, effect: Effect): void {
    switch (effect.kind) {
      case 'acquire': {
        const { head, kind, ...rest } = effect;
        const request = { name: NAME, ttl: head.options.ttl, spent: instance.spent, ...rest };
        instance.requests.push({ kind, request: request as unknown as AcquireRequest });
        return;
      }
      case 'yield': {
        const { head, lease, tokens, place } = effect;
        const request = { name: NAME, owner: lease.owner, ttl: head.options.ttl, tokens, place };
        instance.requests.push({ kind: 'yield', request: request as unknown as YieldRequest });
        return;
      }
      case 'cancel':
        return this.cancel(instance, effect.place, effect.ttl);
      case 'give-back':
        this.spend(instance, effect.grant.token);
        for (const owner of ownersOf(effect.grant))
          if (!instance.name.leaseOf(owner)) this.release(instance, owner, effect.ttl);
        return;
      case 'end':
        return this.spend(instance, effect.lease.token);
      case 'spend':
        return this.spend(instance, effect.token);
      case 'free':
        return this.free(instance, effect.lease);
      case 'admit':
        return this.admit(instance, effect);
      case 'reject':
      case 'time-out':
      case 'unavailable':
        this.settle(effect.waiter, 'done');
        return;
      case 'lose':
        for (const caller of this.callers)
          if (caller.lease === effect.lease && caller.phase === 'holds') caller.phase = 'lost';
        return;
      case 'keep-spares':
        instance.hasSpares = true;
        return;
      case 'drop':
        if (instance.name.state.kind === 'idle' && !instance.name.hasLeases)
          instance.name = new Name(NAME, instance.name.rules);
        return;
      // The end of a tick is a step of its own; releases settle at once; memory needs no subscription.
      case 'gather':
      case 'hold-back':
      case 'settle-spares':
      case 'listen':
        return;
      case 'return':
        throw new Error('There are no replicas.');
      default:
        never(effect);
    }
  }

  private admit(instance: Instance, { waiter, lease, token, renews }: Effect & { kind: 'admit' }): void {
    const caller = this.settle(waiter, 'holds');
    caller.lease = lease;
    const { mode } = waiter.options;
    if (!this.revoked.has(lease.owner)) {
      const highest = Math.max(0, ...this.tokens);
      if (mode === 'exclusive' ? token <= highest : this.tokens.includes(token))
        this.problem = 'a token does not grow';
    }
    this.tokens.push(token);
    if (!renews) return;
    const request = lease.request(lease.ttl, this.now);
    lease.renewAt = Infinity;
    instance.requests.push({ kind: 'extend', lease, request, sentAt: this.now });
  }

  private settle(waiter: Waiter, phase: Caller['phase']): Caller {
    const caller = sure(this.callers.find((each) => each.waiter === waiter));
    waiter.isWaiting = false;
    caller.phase = phase;
    caller.isWatched = false;
    if (phase === 'done') caller.waiter = undefined;
    return caller;
  }

  private spend(instance: Instance, token: number): void {
    instance.spent = Math.max(instance.spent, token);
    this.feed(instance, { kind: 'spent', token });
  }

  private free(instance: Instance, { owner, ttl, deadline }: Lease): void {
    this.release(instance, owner, Math.max(ttl, deadline - this.now));
  }

  private release({ requests }: Instance, owner: string, ttl: number): void {
    requests.push({ kind: 'release', owner, ttl, until: Infinity });
  }

  private cancel({ requests }: Instance, place: string, ttl: number): void {
    requests.push({ kind: 'cancel', place, ttl, until: Infinity });
  }

  /** Does as `CleanUps` does. */
  private cleanAgain(instance: Instance, request: Request & { kind: 'release' | 'cancel' }): void {
    if (request.until === Infinity) request.until = this.now + request.ttl;
    const { name } = instance;
    const mayRepeat = request.kind === 'release' || (name.alone === undefined && !name.wantsToBeAlone);
    if (mayRepeat && this.now < request.until) instance.requests.push(request);
  }

  private hearCancel(instance: Instance, owner: string | undefined): void {
    const { name } = instance;
    if (!owner || name.wantsToBeAlone || name.leaseOf(owner)) return;
    this.spend(instance, tokenOf(owner));
    this.release(instance, owner, TTL);
  }

  /** Does as `LeaseKeeper` does. */
  private hearExtension(instance: Instance, to: Request & { kind: 'extend' }, kept: number): void {
    const { lease, request, sentAt } = to;
    if (!lease.live || instance.name.leaseOf(lease.owner) !== lease) return;
    if (kept === 0) {
      lease.gone = true;
      this.feed(instance, { kind: 'ended', lease, error: takenError([NAME]) });
    } else if (this.now >= lease.deadline) this.expires(instance, lease);
    else lease.confirm(request.ttl, sentAt, kept);
  }

  expires(instance: Instance, lease: Lease): void {
    this.feed(instance, { kind: 'ended', lease, error: expiredError([NAME]) });
  }
}
