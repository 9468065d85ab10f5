import type { LockOptions, ResolvedLockOptions } from '../../lib/options/lock-options.interface.js';
import { LOCK_OPTION_DEFAULTS, resolveLockOptions } from '../../lib/options/lock-options.js';
import { constant, copyOf } from './copy.js';
import { newSite, type Site, siteCopy } from './site.js';
import { sure } from './sure.js';
import { INSTANCES, NO_EVENTS, WAIT, TTL, WorldServer } from './world-server.js';

const PATIENT = { ttl: TTL, wait: WAIT, outageTimeout: WAIT };

/** How often something may happen at most. */
export interface Budget {
  /** A request, its reply or a message is lost; a request is late or arrives twice; too few replicas confirm. */
  readonly fault: number;
  /** The connections of an instance break, and are made again. */
  readonly cut: number;
  /** Time passes although something else could happen: what does not happen is frozen. */
  readonly tick: number;
  readonly abort: number;
  /** A forced release. */
  readonly force: number;
  /** The shutdown of an instance. */
  readonly close: number;
  /** The server refuses a request for good: its user lacks a right, or a key has another type. */
  readonly refusal: number;
}

export const NOTHING: Budget = { fault: 0, cut: 0, tick: 0, abort: 0, force: 0, close: 0, refusal: 0 };

/** Who calls: options, the number of the instance, and that of the name. */
export type CallerPlan = Omit<LockOptions, 'signal'> & { readonly at: number; readonly of?: number };

/**
 * The state of all instances, of the server and of the network between them. A world does not change once it has been
 * looked into. Its successors share what they leave unchanged.
 */
export class World {
  now = 1_000;
  readonly sites: Site[] = [];
  server = new WorldServer();
  left: Budget;
  /** Whether time passes only when nothing else can happen, and nothing fails any more. */
  isCalm = false;
  /** Owners whose lease was ended by a forced release. */
  revoked: readonly string[] = [];
  /** By name: fencing tokens that a caller got, or the highest one of exclusive callers. */
  tokens: readonly (readonly number[])[] = [[], []];
  /** Whether a request has run that its instance no longer knows. */
  hasRunLate = false;
  /** Whether a release or a leave was refused for good: what it should have ended lasts until its lease ends. */
  hasRefusedCleanUp = false;
  problem = '';
  /** Whether parts are this world's own, and may be changed. */
  private readonly isOwn: boolean[] = [];
  private hasOwnServer = true;

  constructor(callers: readonly CallerPlan[], budget: Partial<Budget>) {
    this.left = { ...NOTHING, ...budget };
    const options = new Map<string, ResolvedLockOptions>();
    const resolved = callers.map(({ at, of = 0, ...own }) => {
      const text = JSON.stringify(own, (_, value: unknown) => (value === Infinity ? 'Infinity' : value));
      const known =
        options.get(text) ??
        constant(resolveLockOptions(LOCK_OPTION_DEFAULTS, { ...PATIENT, ...own }), `options ${options.size}`);
      options.set(text, known);
      return { at, of, options: known };
    });
    const instances = 1 + Math.max(...callers.map(({ at }) => at));
    for (let i = 0; i < instances; i++) {
      this.server.inboxes.open(sure(INSTANCES[i]), NO_EVENTS);
      this.sites.push(
        newSite(
          i,
          resolved.filter(({ at }) => at === i),
        ),
      );
      this.isOwn.push(true);
    }
  }

  /** A successor, which still shares everything with this world. */
  fork(): World {
    const fork = Object.create(World.prototype) as World;
    return Object.assign(fork, this, {
      sites: this.sites.slice(),
      isOwn: this.isOwn.map(() => false),
      hasOwnServer: false,
    });
  }

  /** An instance that may be changed. */
  site(i: number): Site {
    if (!this.isOwn[i]) {
      this.isOwn[i] = true;
      this.sites[i] = siteCopy(sure(this.sites[i]));
    }
    return sure(this.sites[i]);
  }

  /** The server, which may be changed. */
  ownServer(): WorldServer {
    if (!this.hasOwnServer) {
      this.hasOwnServer = true;
      this.server = copyOf(this.server);
    }
    return this.server;
  }

  spend(what: keyof Budget): void {
    this.left = { ...this.left, [what]: this.left[what] - 1 };
  }

  /** Whether nothing has gone wrong that a rule must take into account. */
  isUndisturbed(budget: Budget): boolean {
    return (
      !this.isCalm &&
      this.left.fault === budget.fault &&
      this.left.cut === budget.cut &&
      !this.hasRefusedCleanUp
    );
  }
}
