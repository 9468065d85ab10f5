import type { Source } from './simulated-process.js';

/** One caller, from its acquire to its release. */
export interface AcquireStep {
  readonly kind: 'acquire';
  readonly instance: number;
  readonly name: string;
  /** Further names that it wants at the same time; undefined where it calls with one name. */
  readonly also?: readonly string[] | undefined;
  readonly ttl: number;
  readonly wait: number;
  readonly outageTimeout: number;
  readonly renew: boolean;
  readonly minHold: number;
  readonly maxHold: number;
  /** How long its work takes. */
  readonly work: number;
  /** Whether its work ends when the signal of its hold aborts. */
  readonly heedsSignal: boolean;
  /** Gives up the wait after this long. */
  readonly abortAfter: number | undefined;
  readonly extend: { readonly after: number; readonly ttl: number } | undefined;
  /** Most holders beside which it may hold, itself among them; undefined where it wants to be alone. */
  readonly limit?: number | undefined;
  /** Detaches its hold, and lets another instance go on with it. */
  readonly pass?: Pass | undefined;
}

/** Waits for as long as it takes, and releases at once. */
export const PATIENT: AcquireStep = {
  kind: 'acquire',
  instance: 0,
  name: 'x',
  ttl: 4_000,
  wait: Infinity,
  outageTimeout: 60_000,
  renew: true,
  minHold: 0,
  maxHold: Infinity,
  work: 0,
  heedsSignal: false,
  abortAfter: undefined,
  extend: undefined,
};

/** A patient caller but for what is given. */
export function caller(step: Partial<TimedStep & AcquireStep>): TimedStep {
  return { after: 0, ...PATIENT, ...step };
}

/** A hold goes to another instance. */
export interface Pass {
  readonly after: number;
  readonly to: number;
  /** How long the string is on its way. */
  readonly transit: number;
  /** Number of takers of the string; undefined: two. */
  readonly takers?: 2 | 3 | undefined;
  /** Milliseconds from one taker to the next. */
  readonly apart?: number | undefined;
}

/** What befalls an instance, or the server. */
export type FaultStep =
  | { readonly kind: 'crash'; readonly instance: number; readonly noticedAfter: number }
  | {
      readonly kind: 'freeze';
      readonly instance: number;
      readonly lasts: number;
      readonly order: readonly Source[];
    }
  | {
      /** The connection for commands breaks: what was sent is sent again, or fails. */
      readonly kind: 'reset';
      readonly instance: number;
      readonly lasts: number;
      readonly resends: boolean;
    }
  | {
      /** The inbox's connection breaks; one end notices after the other. */
      readonly kind: 'deafen';
      readonly instance: number;
      readonly lasts: number;
      readonly first: 'client' | 'server';
      readonly lag: number;
    }
  | {
      /** What is sent in one direction never arrives. */
      readonly kind: 'cut';
      readonly instance: number;
      readonly what: Lane;
      readonly lasts: number;
    }
  | {
      readonly kind: 'slow';
      readonly instance: number;
      readonly what: Lane;
      readonly lasts: number;
      readonly by: number;
    }
  | { readonly kind: 'pause'; readonly lasts: number }
  /** The server answers every command with an error, as it does while it loads its data. */
  | { readonly kind: 'refuse'; readonly lasts: number }
  | {
      /** The server answers one kind of request of an instance with this error, as after a change of the user's rights. */
      readonly kind: 'deny';
      readonly instance: number;
      readonly what: RequestKind;
      readonly reply: string;
      readonly lasts: number;
    };

/** A request by the script that serves it. Those of a call for several names have scripts of their own. */
export type RequestKind =
  'acquire' | 'yield' | 'release' | 'extend' | 'cancel' | 'transfer' | 'keep' | 'read';

/** What takes the server's word back. */
export type LossStep =
  | { readonly kind: 'flush'; readonly node?: number }
  | { readonly kind: 'forceRelease'; readonly name: string };

/** A way through the network: commands, their replies, messages of the inbox. */
export type Lane = 'requests' | 'replies' | 'messages';

export type Step = AcquireStep | FaultStep | LossStep;

/** A step so many milliseconds after the one before it; on a quorum, a fault may strike at one node only. */
export type TimedStep = Step & { readonly after: number; readonly node?: number | undefined };

/** Several servers in place of one. */
export interface QuorumTerms {
  /** Milliseconds that a node has for its answer. */
  readonly nodeTimeout: number;
  /** By how many ms each node's clock is ahead, and how fast it runs, in thousandths more or less than true. */
  readonly clocks: readonly { readonly ahead: number; readonly drift: number }[];
  /** What contenders that got in each other's way draw, one after the other, over and over. */
  readonly dice: readonly number[];
}

export interface Schedule {
  /** How fast each instance's clock runs, in thousandths more or less than true. */
  readonly drifts: readonly number[];
  readonly budget: { readonly max: number; readonly window: number };
  /** What the trips through the network take, one after the other, over and over. */
  readonly latencies: readonly number[];
  /** How long after a reset a request that had been sent before it still arrives; undefined: never. */
  readonly straggle: number | undefined;
  /** Whether requests say until when they count, so that the server rejects late copies. */
  readonly dated?: boolean;
  /** Left out: one server. */
  readonly quorum?: QuorumTerms;
  readonly steps: readonly TimedStep[];
}

/** What a schedule lets one demand of the engine. */
export interface Expectations {
  /** No step harms the network or stops a process: waits end at once, holds are never lost for nothing. */
  readonly calm: boolean;
  /** Besides, no lease runs out, or none is ever shorter than the waiters were told. */
  readonly prompt: boolean;
  /** Besides, nobody dies and every lock is released: instances have it in the order in which they came. */
  readonly orderly: boolean;
  /** Nothing keeps a message from a holder, though the server may lose its data. */
  readonly undisturbed: boolean;
  /** The server keeps its word: holds exclude each other. */
  readonly exclusive: boolean;
  /** The server soon keeps no lease that nobody uses: every request to end one is granted in the end. */
  readonly tidy: boolean;
  /** Nothing costs a waiting instance its place: it hears its messages long before its claim lease ends. */
  readonly ordered: boolean;
}

const HARMLESS: ReadonlySet<Step['kind']> = new Set(['acquire', 'crash', 'flush', 'forceRelease']);

/** What may be demanded of a schedule. */
export function expectationsOf(schedule: Schedule): Expectations {
  const kinds = new Set(schedule.steps.map(({ kind }) => kind));
  const loses = kinds.has('flush') || kinds.has('forceRelease');
  const quick = Math.max(...schedule.latencies) <= 3;
  const passes = schedule.steps.some((step) => step.kind === 'acquire' && step.pass !== undefined);
  const undisturbed = quick && !passes && [...kinds].every((kind) => HARMLESS.has(kind));
  const calm = undisturbed && !loses;
  const callers = schedule.steps.filter((step) => step.kind === 'acquire');
  const expires = kinds.has('crash') || callers.some(({ renew, maxHold }) => !renew || maxHold !== Infinity);
  const leases = new Set(callers.flatMap(({ ttl, extend }) => [ttl, extend?.ttl ?? ttl]));
  // A writer is told the end of the last lease that readers have, and that reader may release before the others.
  const alone = callers.every(({ limit }) => limit === undefined);
  const known = alone && leases.size <= 1 && callers.every(({ minHold }) => minHold === 0);
  const slowness = schedule.steps.reduce((sum, step) => sum + (step.kind === 'slow' ? step.by : 0), 0);
  const isHeardInTime = 8 * (slowness + Math.max(...schedule.latencies)) < Math.min(...leases);
  const ordered =
    !schedule.quorum &&
    !passes &&
    isHeardInTime &&
    [...kinds].every((kind) => kind === 'acquire' || kind === 'crash' || kind === 'slow');
  return {
    calm,
    prompt: calm && (!expires || known),
    orderly: calm && !expires,
    undisturbed,
    exclusive: !loses,
    tidy: !passes && isTidy(schedule),
    ordered,
  };
}

const PASSING: ReadonlySet<Step['kind']> = new Set(['acquire', 'deny', 'refuse', 'reset']);

/** Whether no late request takes a lease for nobody, and the server grants a request that ends each lease. */
function isTidy({ quorum, steps, straggle }: Schedule): boolean {
  const denied = new Set(steps.map((step) => (step.kind === 'deny' ? step.what : undefined)));
  return (
    !quorum &&
    straggle === undefined &&
    steps.every(({ kind }) => PASSING.has(kind)) &&
    !denied.has('cancel') &&
    // A lease whose release is refused is ended by an extension of no time.
    !(denied.has('release') && denied.has('extend'))
  );
}

/** Since when all faults are over, in milliseconds from the start. */
export function quietSince(schedule: Schedule): number {
  const leases = schedule.steps.map((step) => (step.kind === 'acquire' ? step.ttl : 0));
  let now = 0;
  let end = 0;
  for (const step of schedule.steps) {
    now += step.after;
    end = Math.max(end, now + aftermath(step, Math.max(...leases)));
  }
  return end + (schedule.straggle ?? 0);
}

function aftermath(step: Step, lease: number): number {
  switch (step.kind) {
    case 'crash':
      return step.noticedAfter;
    case 'deafen':
      return Math.max(step.lasts, step.lag);
    case 'slow':
      return step.lasts + step.by;
    case 'deny':
      // A place whose leave is refused lasts until its lease ends.
      return step.lasts + (step.what === 'cancel' ? lease : 0);
    case 'freeze':
    case 'reset':
    case 'cut':
    case 'pause':
    case 'refuse':
      return step.lasts;
    default:
      return 0;
  }
}
