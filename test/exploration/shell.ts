import { expiredError, takenError } from '../../lib/engine/lock-errors.js';
import type { Lease } from '../../lib/engine/hold/lease.js';
import { next } from '../../lib/engine/queue/name-machine.js';
import type { Effect } from '../../lib/engine/queue/name-effect.js';
import type { Event } from '../../lib/engine/queue/name-event.js';
import { Waiter } from '../../lib/engine/queue/waiter.js';
import { isGrant, type Grant, type Taken } from '../../lib/store/grant.js';
import type { AcquireRequest, YieldRequest } from '../../lib/store/lock-store.js';
import { isRefusal } from '../../lib/store/store-errors.js';
import { instanceOf, isSharedOwner, ownersOf, tokenOf } from '../../lib/store/owner-id.js';
import { parsePlace } from '../../lib/store/place.js';
import type { CleanUp, Request } from './messages.js';
import { type Caller, newName, type Site } from './site.js';
import { sure } from './sure.js';
import type { World } from './world.js';
import { NAMES, NO_EVENTS, TTL } from './world-server.js';

const ABORTED = new Error('The caller has aborted.');

const nothing = (): void => undefined;

type EffectOf<Kind extends Effect['kind']> = Extract<Effect, { kind: Kind }>;
type RequestOf<Kind extends Request['kind']> = Extract<Request, { kind: Kind }>;

/**
 * Does what `LockEngine`, `LocalQueue`, `LeaseKeeper` and `Requests` do around the machine of a name, for one instance
 * of a world.
 */
export class Shell {
  constructor(
    private readonly world: World,
    private readonly site: Site,
  ) {}

  enter(caller: Caller): void {
    const { of, options } = caller;
    caller.phase = 'waits';
    caller.waiter = new Waiter(sure(NAMES[of]), options, this.world.now, nothing, nothing);
    caller.waiter.isCutShort = this.site.isClosing && options.wait > 0;
    this.feed(of, { kind: 'enter', waiter: caller.waiter });
  }

  abort({ of, waiter }: Caller): void {
    this.feed(of, { kind: 'leave', waiter: sure(waiter), reason: ABORTED });
  }

  release(caller: Caller): void {
    const { lease, of } = caller;
    caller.phase = 'done';
    caller.lease = caller.waiter = undefined;
    if (lease?.live) this.feed(of, { kind: 'released', lease });
    else if (lease?.gone === false) this.free(of, lease);
  }

  close(): void {
    this.site.isClosing = true;
    this.site.topics.forEach((_, of) => this.feed(of, { kind: 'end-waits' }));
  }

  /** Requests without a reply are sent again after the reconnect, before the others; messages are lost. */
  cut(): void {
    const { site, world } = this;
    site.isCut = true;
    site.messages = [];
    site.requests.unshift(...site.replies.splice(0).map(({ to }) => to));
    world.ownServer().inboxes.close(site.id);
  }

  reconnect(): void {
    const { site, world } = this;
    site.isCut = false;
    world.ownServer().inboxes.open(site.id, NO_EVENTS);
    site.topics.forEach(({ name }, of) => {
      for (const lease of name.leases) {
        lease.noteResent();
        this.extend(of, lease);
      }
      this.feed(of, { kind: 'reconnected' });
    });
  }

  /** The server runs a request for which the instance waits. */
  run(request: Request): unknown {
    const reply = this.execute(request);
    if (request.kind === 'acquire') this.checkAdoption(request, reply as Grant | Taken);
    return reply;
  }

  /** The server runs a request. */
  execute({ of, ...request }: Request): unknown {
    const { site, world } = this;
    const server = world.ownServer();
    const name = sure(NAMES[of]);
    switch (request.kind) {
      case 'acquire':
        return confirmed(server.acquire(site.id, request.request), request.request);
      case 'yield':
        return confirmed(server.yield(request.request), request.request);
      case 'extend':
        return server.extend(request.request);
      case 'release':
        return request.isVacating
          ? server.extend({ name, owner: request.owner, ttl: 0, exact: true })
          : server.release(name, request.owner);
      default:
        return server.cancel(site.id, name, request.place);
    }
  }

  /** Puts a reply on its way, unless it can never have an effect: then the order in which it arrives does not matter. */
  answer(to: Request, result: unknown, error?: Error): void {
    const isUnheard =
      (to.kind === 'extend' && error) ||
      (to.kind === 'release' && !error && !to.returns) ||
      (to.kind === 'cancel' && !error && !to.returns && result === undefined);
    if (!isUnheard) this.site.replies.push(error ? { to, error } : { to, result });
  }

  /** The instance hears the first reply on its way. */
  hear(): void {
    const { to, error, result } = sure(this.site.replies.shift());
    const { of } = to;
    switch (to.kind) {
      case 'acquire':
      case 'yield':
        return this.feed(
          of,
          error ? { kind: 'failed', error } : { kind: 'answer', reply: result as Grant | Taken | undefined },
        );
      case 'extend':
        return this.hearExtension(to, result as number);
      case 'release':
      case 'cancel':
        if (error && !isRefusal(error)) this.cleanAgain(to);
        else if (error) this.vacate(to);
        else if (to.kind === 'cancel') this.hearCancel(of, result as string | undefined);
        if (to.returns && --sure(this.site.topics[of]).returning === 0) this.feed(of, { kind: 'returned' });
    }
  }

  /** The instance gets the first message on its way. */
  getMessage(): void {
    const { of, ...message } = sure(this.site.messages.shift());
    if (message.kind !== 'asked') return this.feed(of, message);
    const { name } = sure(this.site.topics[of]);
    const { place } = message;
    const part = parsePlace(place).shared?.turn;
    const isNeeded = name.turn?.waitsAt(place, part) || (part && name.hasHoldsFrom(part));
    if (!isNeeded) this.cleanUp({ kind: 'cancel', of, place, ttl: 0, until: Infinity, returns: false });
  }

  /** Reports an event to the machine of a name, and carries out what follows. */
  feed(of: number, event: Event): void {
    const { name } = sure(this.site.topics[of]);
    const effects = next(name, event, this.world.now);
    // The next event brings its own time, so worlds that differ only in this one are equal.
    name.now = 0;
    for (const effect of effects) this.carryOut(of, effect);
  }

  expire(of: number, lease: Lease): void {
    this.feed(of, { kind: 'ended', lease, error: expiredError([lease.name], lease) });
  }

  private carryOut(of: number, effect: Effect): void {
    const { site } = this;
    const topic = sure(site.topics[of]);
    const { name } = topic;
    switch (effect.kind) {
      case 'acquire': {
        const { head, kind, ...rest } = effect;
        const { ttl, replicas } = head.options;
        const request = { name: name.name, ttl, replicas, endedToken: site.endedToken, ...rest };
        site.requests.push({ of, kind, request });
        return;
      }
      case 'yield': {
        const { head, kind, lease, tokens, place } = effect;
        const { ttl, replicas } = head.options;
        const request: YieldRequest = { name: name.name, owner: lease.owner, ttl, tokens, place, replicas };
        site.requests.push({ of, kind, request });
        return;
      }
      case 'cancel': {
        const { place, ttl } = effect;
        return this.cleanUp({ kind: 'cancel', of, place, ttl, until: Infinity, returns: false });
      }
      case 'end':
        return this.spend(of, effect.lease.token);
      case 'note-ended-token':
        return this.spend(of, effect.token);
      case 'free':
        this.spend(of, effect.lease.token);
        return this.free(of, effect.lease);
      case 'admit':
        return this.admit(of, effect);
      case 'reject':
      case 'time-out':
      case 'unavailable':
        this.settle(effect.waiter, 'done');
        return;
      case 'lose':
        for (const caller of site.callers)
          if (caller.lease === effect.lease && caller.phase === 'holds') this.lose(caller);
        return;
      case 'check-outage':
        topic.outageAt = Math.min(topic.outageAt, effect.at);
        return;
      case 'drop':
        if (name.state.kind === 'idle' && !name.hasLeases) topic.name = newName(site.i, of);
        return;
      case 'return':
        this.spend(of, effect.grant.token);
        return this.return(of, effect);
      // The end of a tick is a step of its own; memory needs no subscription.
      case 'gather':
      case 'listen':
        return;
    }
  }

  private admit(of: number, { waiter, lease, token, renews }: EffectOf<'admit'>): void {
    const { world } = this;
    const caller = this.settle(waiter, 'holds');
    caller.lease = lease;
    const isAlone = waiter.options.mode === 'exclusive';
    const known = sure(world.tokens[of]);
    const highest = Math.max(0, ...known);
    if (!world.revoked.includes(lease.owner) && (isAlone ? token <= highest : known.includes(token)))
      world.problem = 'a token does not grow';
    const tokens = isAlone ? [Math.max(highest, token)] : [...known, token];
    world.tokens = world.tokens.map((each, n) => (n === of ? tokens : each));
    if (renews) this.extend(of, lease);
  }

  private settle(waiter: Waiter, phase: Caller['phase']): Caller {
    const caller = sure(this.site.callers.find((each) => each.waiter === waiter));
    caller.phase = phase;
    if (phase === 'done') caller.waiter = undefined;
    return caller;
  }

  /** The caller's release has an effect only if the server may still keep the lease. */
  private lose(caller: Caller): void {
    caller.phase = 'lost';
    if (caller.lease?.gone !== false) this.release(caller);
  }

  private spend(of: number, token: number): void {
    this.site.endedToken = Math.max(this.site.endedToken, token);
    sure(this.site.topics[of]).name.noteEndedToken(token);
  }

  private free(of: number, { owner, ttl, deadline }: Lease): void {
    const longest = Math.max(ttl, deadline - this.world.now);
    this.cleanUp({ kind: 'release', of, owner, ttl: longest, until: Infinity, returns: false });
  }

  private return(of: number, { grant, isAwaited, place, ttl }: EffectOf<'return'>): void {
    const topic = sure(this.site.topics[of]);
    const rest = { of, ttl, until: Infinity, returns: isAwaited };
    const owners = ownersOf(grant).filter((owner) => !topic.name.leaseOf(owner));
    const cleanUps: CleanUp[] =
      place === undefined
        ? owners.map((owner) => ({ kind: 'release', owner, ...rest }))
        : [{ kind: 'cancel', place, ...rest }];
    if (isAwaited) topic.returning = cleanUps.length;
    for (const each of cleanUps) this.cleanUp(each);
  }

  private cleanUp(request: CleanUp): void {
    this.site.requests.push(request);
  }

  private extend(of: number, lease: Lease): void {
    const sentAt = this.world.now;
    const request = lease.request(lease.renew ? lease.ttl : lease.remainder(sentAt), sentAt);
    lease.renewAt = Infinity;
    this.site.requests.push({ of, kind: 'extend', request, sentAt });
  }

  private cleanAgain(request: CleanUp): void {
    const { now } = this.world;
    const until = Math.min(request.until, now + request.ttl);
    const { name } = sure(this.site.topics[request.of]);
    const mayRepeat =
      request.kind === 'release' || (name.exclusiveLease === undefined && !name.wantsExclusive);
    if (mayRepeat && now < until) this.cleanUp({ ...request, until, returns: false });
  }

  /** Ends the lease of a refused release without a hand-off. */
  private vacate(request: CleanUp): void {
    if (request.kind !== 'release' || request.isVacating) return;
    const until = Math.min(request.until, this.world.now + request.ttl);
    this.cleanUp({ ...request, until, returns: false, isVacating: true });
  }

  private hearCancel(of: number, owner: string | undefined): void {
    const { name } = sure(this.site.topics[of]);
    if (!owner || name.wantsExclusive || name.leaseOf(owner)) return;
    this.spend(of, tokenOf(owner));
    this.cleanUp({ kind: 'release', of, owner, ttl: TTL, until: Infinity, returns: false });
  }

  private hearExtension({ of, request, sentAt }: RequestOf<'extend'>, kept: number): void {
    const lease = sure(this.site.topics[of]).name.leaseOf(request.owner);
    if (!lease?.live) return;
    if (kept === 0) {
      lease.gone = true;
      this.feed(of, { kind: 'ended', lease, error: takenError([lease.name]) });
    } else if (this.world.now >= lease.deadline) this.expire(of, lease);
    else lease.confirm(request.ttl, sentAt, kept);
  }

  /** An instance must not wait for a lock that the server keeps for it, unless it is about to learn of it. */
  private checkAdoption({ of, request }: RequestOf<'acquire'>, reply: Grant | Taken): void {
    const { id, messages, topics } = this.site;
    const { owner } = reply;
    if (isGrant(reply) || request.shared || owner === undefined || isSharedOwner(owner)) return;
    const isComing = messages.some((each) => each.kind === 'granted' && each.grant.owner === owner);
    if (instanceOf(owner) === id && !isComing && !sure(topics[of]).name.leaseOf(owner))
      this.world.problem = 'an instance has to wait for a lock that the server keeps for it';
  }
}

/** A grant that enough replicas have confirmed. */
function confirmed(
  reply: Grant | Taken | undefined,
  { replicas }: Pick<AcquireRequest, 'replicas'>,
): Grant | Taken | undefined {
  return replicas && reply && isGrant(reply) ? { ...reply, replicas: replicas.min } : reply;
}
