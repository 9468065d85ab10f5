import { inspect } from 'node:util';
import type { Hold } from '../../lib/engine/hold/hold.js';
import type { LockOptions, ResolvedLockOptions } from '../../lib/options/lock-options.interface.js';
import { LOCK_OPTION_DEFAULTS, resolveLockOptions } from '../../lib/options/lock-options.js';
import { MemoryLockServer } from '../../lib/store/memory/memory-lock-server.js';
import { settle } from '../unit/engine/manual-clock.js';
import { constant } from './constants.js';
import { TTL, WAIT } from './names.js';
import { type Caller, type Role, Site } from './site.js';
import { sure } from './sure.js';

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

/** Who calls: options, the number of the instance, that of the name, and what the caller does. */
export type CallerPlan = Omit<LockOptions, 'signal'> & {
  readonly at: number;
  readonly of?: number;
  readonly role?: Role;
};

type Planned = Pick<Caller, 'of' | 'options' | 'role'> & { readonly at: number };

const resolvedPlans = new WeakMap<readonly CallerPlan[], readonly Planned[]>();

/** Resolves the options of callers, once for a plan; equal ones are one object. */
function plannedOf(callers: readonly CallerPlan[]): readonly Planned[] {
  const known = resolvedPlans.get(callers);
  if (known) return known;
  const resolved = new Map<string, ResolvedLockOptions>();
  const found = callers.map(({ at, of = 0, role = 'acquires', ...own }): Planned => {
    const text = inspect(own);
    const options =
      resolved.get(text) ?? constant(resolveLockOptions(LOCK_OPTION_DEFAULTS, { ...PATIENT, ...own }), text);
    resolved.set(text, options);
    return { at, of, role, options };
  });
  resolvedPlans.set(callers, found);
  return found;
}

/** One step of a world. Steps with equal texts are equal: they name the parts of a world by number. */
export interface Move {
  readonly text: string;
  readonly make: (world: World) => unknown;
}

/** All instances, the server and the network between them. A schedule of steps leads from the first state to any other. */
export class World {
  now = 1_000;
  readonly callers: readonly Caller[];
  readonly sites: readonly Site[];
  readonly server: MemoryLockServer;
  left: Budget;
  /** Whether time passes only when nothing else can happen, and nothing fails any more. */
  isCalm = false;
  /** Owners whose lease was ended by a forced release. */
  readonly revoked: string[] = [];
  /** By name: fencing tokens that a caller got, or the highest one of exclusive callers. */
  readonly tokens: number[][] = [[], []];
  /** The string of a detached hold. */
  passed: string | undefined;
  /** Whether a request has run that its instance no longer knows. */
  hasRunLate = false;
  /** Whether a release, return or cancel was refused for good: the lease or place lasts until its time has passed. */
  hasRefusedEnding = false;
  problem = '';
  /** What happens. */
  step = '';

  constructor(callers: readonly CallerPlan[], budget: Partial<Budget>) {
    this.left = { ...NOTHING, ...budget };
    this.server = new MemoryLockServer(() => this.now);
    const planned = plannedOf(callers);
    this.callers = planned.map(({ of, options, role }) => ({
      of,
      options,
      role,
      phase: 'new',
      startedAt: 0,
      hold: undefined,
      isOver: false,
      returned: undefined,
      result: undefined,
      signalled: undefined,
      abort: nothing,
      finish: nothing,
    }));
    const instances = 1 + Math.max(...planned.map(({ at }) => at));
    this.sites = Array.from({ length: instances }, (_, i) => {
      return new Site(
        i,
        this.callers.filter((_caller, n) => planned[n]?.at === i),
        this,
      );
    });
  }

  letPass(delay: number): void {
    this.now += delay;
    for (const { clock } of this.sites) clock.skip(delay);
  }

  spend(what: keyof Budget): void {
    this.left = { ...this.left, [what]: this.left[what] - 1 };
  }

  /** Checks the token of a hold that a caller gets. A hold that was passed keeps its token. */
  noteGrant({ of, options, role }: Caller, { fencingToken: token, owner }: Hold): void {
    const known = sure(this.tokens[of]);
    const isAlone = options.mode === 'exclusive';
    const highest = Math.max(0, ...known);
    const isOld = isAlone
      ? token < highest || (token === highest && role !== 'takes')
      : known.includes(token);
    if (isOld && !this.revoked.includes(owner)) this.problem = 'a token does not grow';
    this.tokens[of] = isAlone ? [Math.max(highest, token)] : [...known, token];
  }

  /** Makes a step, and whatever follows before anything else can happen. */
  async make({ make, text }: Move): Promise<void> {
    this.step = text;
    await make(this);
    do await settle();
    while (this.sites.some(({ clock }) => clock.hasInput));
    for (const caller of this.callers) if (caller.hold?.held === false) caller.isOver = true;
  }

  /** Whether nothing has gone wrong that a rule must take into account. */
  isUndisturbed(budget: Budget): boolean {
    return (
      !this.isCalm &&
      this.left.fault === budget.fault &&
      this.left.cut === budget.cut &&
      !this.hasRefusedEnding
    );
  }
}

function nothing(): void {}
