import { setTimeout as setUnwatchedTimeout } from 'node:timers';
import { setTimeout as delay } from 'node:timers/promises';
import type { LockService } from 'nest-redis-lock';
import { type Around, type Composition, hasShape, streamsResult } from './composition.js';
import { Remains } from './remains.js';
import type { Transaction } from './shapes.js';

/** A little more than the time after which a waiting call listens to its client's connection. */
const NOTICED = 22;
/** A little more than the way of a grant. */
const ON_ITS_WAY = 3;

/** Where work under a lock runs. Work in the background is left behind by a handler. */
export type Level = 'handler' | 'service' | 'background' | 'interceptor';

/** The hold of a name, as the work under it saw it. */
interface SeenHold {
  readonly name: string;
  readonly token: number;
}

/** A request with locks, from its arrival to the answer. */
class RequestState {
  /** Holds around the handler of this request, of all attempts. */
  readonly handlerHolds: SeenHold[] = [];
  readonly holds: SeenHold[] = [];
  readonly transactions = new Set<SceneTransaction>();
  running = 0;
  begun = 0;
  inBackground = false;
  rolledBack = false;
  /** Whether the handler called its service when an interceptor had already given up. */
  calledLate = false;
  arrived = false;
  arrive!: () => void;
  readonly arrival = new Promise<void>((resolve) => {
    this.arrive = () => {
      this.arrived = true;
      resolve();
    };
  });
  answered = false;
  left = false;
  /** Whether its client left so long ago that no wait for it may continue. */
  gone = false;
  private timer: NodeJS.Timeout | undefined;

  /** Notes a step towards the lock, after which the request begins to wait. */
  step(): void {
    clearTimeout(this.timer);
    if (!this.left) return;
    // Two timers: a grant may be on its way when both the call and this timer notice the end of the connection late.
    this.timer = setTimeout(() => {
      this.timer = setTimeout(() => (this.gone = true), ON_ITS_WAY);
    }, NOTICED);
  }

  forget(): void {
    clearTimeout(this.timer);
  }
}

/** Work under a lock while it runs. */
export interface Section {
  /** Checks that the lock is still held. */
  check(): void;
  end(): void;
}

/** Work that runs. */
interface OpenSection {
  readonly id: string;
  readonly level: Level;
  readonly names: readonly string[];
  readonly isShared: boolean;
}

/**
 * What happens in an application while requests run, and the rules that it must keep. A broken rule is noted; the
 * requests go on.
 */
export class Scene {
  readonly violations: string[] = [];
  private readonly journal: string[] = [];
  private readonly requests = new Map<string, RequestState>();
  private readonly open = new Set<OpenSection>();
  /** By name: the requests whose work began under it, in order. */
  private readonly entries = new Map<string, string[]>();
  private readonly start = performance.now();
  private stopping = false;
  private readonly later: Promise<void>[] = [];
  private readonly timers: NodeJS.Timeout[] = [];
  /** The objects of requests, which nothing may reach at the end. */
  private readonly watched: WeakRef<object>[] = [];
  locks: LockService | undefined;

  constructor(readonly composition: Composition) {}

  write(id: string, what: string): void {
    this.journal.push(`${(performance.now() - this.start).toFixed(1)} ms  ${id}  ${what}`);
  }

  fail(id: string, what: string): void {
    this.write(id, `! ${what}`);
    this.violations.push(`${id}: ${what}`);
  }

  get log(): string {
    return this.journal.join('\n');
  }

  /** The application runs. */
  runs(locks: LockService): void {
    this.locks = locks;
  }

  /** Watches the objects of a request until they are collected. */
  watch(...objects: readonly object[]): void {
    this.watched.push(...objects.map((object) => new WeakRef(object)));
  }

  /** Sets a timer that outlives its request. */
  keepTimer(): void {
    this.timers.push(setUnwatchedTimeout(() => {}, 3_600_000).unref());
  }

  /** Runs a call that its request does not wait for. */
  runLater(call: () => Promise<void>): void {
    this.outlives(delay(2).then(call));
  }

  /** Work that may go on when its request has ended. */
  outlives(work: Promise<unknown>): void {
    // A shutdown, a short wait or the end of the request may refuse it.
    this.later.push(work.then(() => {}).catch(() => {}));
  }

  /** Resolves when the calls have ended that no request waits for. */
  async background(): Promise<void> {
    await Promise.all(this.later);
  }

  /** The handler, or an interceptor around it, has the request. */
  arrived(id: string): void {
    const request = this.of(id);
    if (!request.arrived) this.write(id, 'arrives');
    request.arrive();
    request.step();
  }

  arrival(id: string): Promise<void> {
    return this.of(id).arrival;
  }

  left(id: string): void {
    const request = this.of(id);
    if (request.left || request.answered) return;
    this.write(id, 'its client leaves');
    request.left = true;
    request.step();
  }

  /** The application begins to shut down. */
  stops(): void {
    this.write('app', 'shuts down');
    this.stopping = true;
  }

  /** A transaction of an interceptor around the handler. */
  begin(id: string): Transaction {
    const request = this.of(id);
    request.step();
    const transaction = new SceneTransaction(this, id, request);
    request.transactions.add(transaction);
    return transaction;
  }

  /** The handler calls its service. */
  callsService(id: string): void {
    const request = this.of(id);
    request.calledLate = request.rolledBack;
    request.step();
  }

  /** An interceptor works under a lock of its own. */
  async lock<T>(id: string, { lock }: Around, work: () => Promise<T>): Promise<T> {
    const { name = 'same name', mode = 'exclusive' } = lock ?? {};
    const key = name === 'same name' ? 'stock' : 'till';
    const working = this.locks?.using(key, { mode }, async () => {
      const section = this.enter(id, 'interceptor', [key], mode === 'shared');
      return work().finally(() => section.end());
    });
    this.outlives(Promise.resolve(working));
    return working as Promise<T>;
  }

  /** Work begins under the given names. */
  enter(id: string, level: Level, names: readonly string[], isShared = false): Section {
    const request = this.of(id);
    this.write(id, `${level} begins under ${names.join(', ')}`);
    const holds = names.map((name) => this.seen(id, level, name));
    if (level !== 'background' && level !== 'interceptor' && !this.worksInHandler(id))
      this.assertMayBegin(id, level, request);
    const own: OpenSection = { id, level, names, isShared };
    this.assertAlone(own);
    this.open.add(own);
    if (level === 'background') request.inBackground = true;
    else {
      request.holds.push(...holds);
      request.running += 1;
    }
    request.begun += 1;
    for (const name of names) this.entries.set(name, [...(this.entries.get(name) ?? []), id]);
    if (level === 'handler') {
      request.handlerHolds.push(...holds);
      for (const transaction of request.transactions) transaction.enclose(names);
    }
    let ended = false;
    const end = (): void => {
      if (ended) return;
      ended = true;
      this.assertHeld(id, holds, `${level} ends its work`);
      this.write(id, `${level} ends`);
      this.open.delete(own);
      if (level !== 'background') request.running -= 1;
    };
    return { check: () => this.assertHeld(id, holds, `${level} works`), end };
  }

  /** The client of a request has its answer. `reference` is the answer without a lock. */
  answered(id: string, answer: string, reference: string): void {
    const request = this.of(id);
    this.write(id, `gets ${answer}`);
    const hasAnswer = !answer.startsWith('no answer');
    request.answered = hasAnswer;
    request.forget();
    const allowed =
      answer === reference ||
      isEventOfError(answer, reference) ||
      isEventOfError(reference, answer) ||
      this.isOwnRefusal(request, answer);
    if (!allowed) this.fail(id, `gets ${answer} instead of ${reference}`);
    // The body of a file is sent while its lock is held; a call that has timed out works on.
    if (!hasAnswer || this.composition.result === 'file' || request.running > 0) return;
    // A call below a handler that has timed out keeps the hold. So does a second call beside one that may fail: it has
    // its turn right before the error of the first one ends the request.
    const hasSecondCall = mayFail(this.composition) && hasShape(this.composition, 'two calls in parallel');
    if (request.inBackground && (answer !== reference || hasSecondCall)) return;
    const still = request.holds.filter((hold) => this.isHeld(hold)).map(({ name }) => name);
    if (still.length > 0) this.fail(id, `has its answer while it holds ${still.join(', ')}`);
  }

  /** Fails if work runs, a transaction is open, or a lock is held although all requests have ended. */
  assertNothingRuns(): void {
    for (const { id, level } of this.open) this.fail(id, `${level} still runs at the end`);
    for (const request of this.requests.values()) request.forget();
  }

  /** The objects of the requests, once the application has ended. */
  remains(): Remains {
    return new Remains(this.watched, this.timers);
  }

  get isIdle(): boolean {
    return this.open.size === 0 && this.locks?.holds().length === 0;
  }

  /** @internal The hold of a name in this process with a token of the request. */
  isHeld({ name, token }: SeenHold): boolean {
    return this.locks?.holds().some((hold) => hold.name === name && hold.fencingToken === token) === true;
  }

  /** @internal The number of other requests whose work has begun under a name. */
  entriesOfOthers(id: string, name: string): number {
    return (this.entries.get(name) ?? []).filter((each) => each !== id).length;
  }

  private of(id: string): RequestState {
    const known = this.requests.get(id) ?? new RequestState();
    this.requests.set(id, known);
    return known;
  }

  private seen(id: string, level: Level, name: string): SeenHold {
    const lock = this.locks?.current(name);
    if (!lock?.held) this.fail(id, `${level} begins, and its context holds no ${name}`);
    const hold = { name, token: lock?.fencingTokenOf(name) ?? NaN };
    if (lock && !this.isHeld(hold)) this.fail(id, `${level} begins, and nobody holds ${name}`);
    return hold;
  }

  private assertHeld(id: string, holds: readonly SeenHold[], when: string): void {
    for (const hold of holds)
      if (!this.isHeld(hold)) this.fail(id, `does not hold ${hold.name} when ${when}`);
  }

  /** Whether a locked handler of the request works: what it began continues whatever its client does. */
  private worksInHandler(id: string): boolean {
    return [...this.open].some((each) => each.id === id && each.level === 'handler');
  }

  private assertMayBegin(id: string, level: Level, request: RequestState): void {
    const { answered, begun, inBackground, calledLate } = request;
    // Later waits of services continue once work of the request has begun: under a lock, in the background, or of a
    // handler without a lock, which goes on after its interceptors have given up.
    const mayGoOn = inBackground || calledLate || (begun > 0 && this.composition.locked === 'service');
    if (answered && !mayGoOn) this.fail(id, 'begins work after its client had the answer');
    // A locked handler looks at its connection before it begins. The end of a WebSocket is known a little later.
    const gone = level === 'handler' && this.composition.transport !== 'ws' ? request.left : request.gone;
    if (gone && begun === 0 && !calledLate) this.fail(id, 'begins work after its client has left');
  }

  /** Work excludes all other work under its names, except the work of the handler or interceptor that calls it. */
  private assertAlone({ id, level, names, isShared }: OpenSection): void {
    for (const other of this.open) {
      const isAround = other.id === id && isCaller(other, level, this.composition);
      const common = isShared && other.isShared ? [] : names.filter((name) => other.names.includes(name));
      if (!isAround && !isLeftBelow(other, id, level) && common.length > 0)
        this.fail(id, `${level} begins under ${common.join(', ')} while ${other.level} of ${other.id} works`);
    }
  }

  /** Whether an answer without a result has a cause in the composition. */
  private isOwnRefusal(request: RequestState, answer: string): boolean {
    const { composition } = this;
    const waits =
      composition.clients.length > 1 ||
      waitsForLeftBehind(composition) ||
      hasShape(composition, 'two calls in parallel', 'timeout', 'locks beside');
    if (answer.includes('SLOW')) return hasShape(composition, 'timeout');
    // The first attempt was spent on a refusal, and the second one fails.
    if (answer.includes('FIRST ATTEMPT'))
      return hasShape(composition, 'timeout') || composition.wait === 'short' || (this.stopping && waits);
    if (answer.includes('The resource is in use')) return composition.wait === 'short' && waits;
    if (!this.stopping) return false;
    // Work of others may have had the lock, and the server may have closed before the request arrived.
    if (answer.includes('The service is shutting down')) return waits || !request.arrived;
    return answer.startsWith('no answer') && (!request.arrived || closesConnections(composition));
  }
}

/** Whether work may call work of a level, which is then nested in it. */
function isCaller({ level }: OpenSection, below: Level, composition: Composition): boolean {
  if (level === 'interceptor') return hasShape(composition, 'locks around');
  return level === 'handler' && (below === 'service' || below === 'background');
}

/** Whether a locked service below the handler may wait for a call that the handler left behind. */
function waitsForLeftBehind({ below, leftBehind, locked }: Composition): boolean {
  if (leftBehind !== 'call') return false;
  return locked === 'both' || (locked === 'service' && below === 'same name');
}

/** Whether one of two calls of a handler may fail while the other one waits for its turn. */
function mayFail(composition: Composition): boolean {
  return streamsResult(composition) || /^(?:throws|fails)/.test(composition.result);
}

/** Nest closes the connections of these transports at once, whatever their handlers still do. */
function closesConnections({ transport, result }: Composition): boolean {
  return ['tcp', 'ws', 'grpc'].includes(transport) || result === 'sse';
}

/**
 * Whether work below an earlier attempt of the same request goes on. A later attempt continues under the hold of the
 * invocation, also beside calls that the handler of an earlier attempt did not await.
 */
function isLeftBelow(other: OpenSection, id: string, level: Level): boolean {
  return level === 'handler' && other.level !== 'handler' && other.id === id;
}

/** @internal A transaction, and the holds that must outlive it. */
class SceneTransaction implements Transaction {
  private state: 'open' | 'committed' | 'rolled back' = 'open';
  /** By name: how many others had begun when the handler began inside this transaction. */
  private readonly enclosed = new Map<string, number>();

  constructor(
    private readonly scene: Scene,
    private readonly id: string,
    private readonly request: RequestState,
  ) {}

  /** Notes that the locked handler runs inside this transaction. */
  enclose(names: readonly string[]): void {
    for (const name of names)
      if (!this.enclosed.has(name)) this.enclosed.set(name, this.scene.entriesOfOthers(this.id, name));
  }

  commit(): void {
    if (this.state !== 'open') return;
    this.end('committed');
    for (const [name, others] of this.enclosed) {
      const isHeld = this.request.handlerHolds.some((hold) => hold.name === name && this.scene.isHeld(hold));
      if (!isHeld) this.scene.fail(this.id, `commits without ${name}`);
      if (this.scene.entriesOfOthers(this.id, name) > others)
        this.scene.fail(this.id, `commits after another request has begun under ${name}`);
    }
  }

  rollback(): void {
    if (this.state !== 'open') return;
    this.request.rolledBack = true;
    this.end('rolled back');
  }

  private end(state: 'committed' | 'rolled back'): void {
    this.state = state;
    this.request.transactions.delete(this);
    this.scene.write(this.id, this.enclosed.size > 0 ? `${state} around the lock` : state);
  }
}

/**
 * Whether an answer with events ends in the error of another answer. Nest sends the status of events a millisecond after
 * their stream has begun: an error answers with its own status before, and is an event afterwards. The error of a locked
 * stream waits for the release.
 */
function isEventOfError(answer: string, reference: string): boolean {
  const [, text] = /^200 text\/event-stream[^]*event: error\n[^]*data: (.*)/.exec(answer) ?? [];
  return text !== undefined && reference.includes(`"message":"${text}"`);
}
