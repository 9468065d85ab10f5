import type { LockLog } from '../../diagnostics/lock-log.js';
import { onAbort } from '../../primitives/abandonment.js';
import type { Clock } from '../../primitives/clock.js';
import { messageOf } from '../../primitives/message-of.js';
import { inRootContext } from '../../primitives/root-context.js';
import { AnswerWakeUp, WakeUp } from '../../primitives/wake-up.js';
import type { Gap, LockStore } from '../../store/lock-store.js';
import { isRefusal } from '../../store/store-errors.js';
import { Request, type RequestEvent, RequestMachine, type RequestOptions } from './request-machine.js';

/** Milliseconds for which a refusal is not logged again with the same reason. */
const REFUSAL_LOG_INTERVAL = 60_000;
const DONE = Promise.resolve();

/**
 * Sends requests that attach a hold, or end holds and waits of no caller, and repeats them until they are answered.
 * Otherwise a name would stay taken for a whole lease because Redis rejected writes for a moment. The machine decides;
 * this shell sends and schedules.
 */
export class Requests {
  /** Number of requests in flight. */
  underWay = 0;
  private readonly machine = new RequestMachine();
  private readonly rounds: WakeUp;
  /** Number of logged requests that were not confirmed since all requests were confirmed. */
  private unconfirmed = 0;
  /** When a refusal was last logged, by its reason. */
  private readonly refusals = new Map<string, number>();
  private isStopped = false;

  constructor(
    private readonly clock: Clock,
    private readonly store: LockStore,
    private readonly log: LockLog,
  ) {
    this.rounds = new WakeUp(clock, () => this.repeat());
  }

  /** Whether all requests are confirmed or expired. */
  get isDone(): boolean {
    return this.underWay === 0 && this.machine.isIdle;
  }

  /**
   * Releases a lock whose lease runs for at most `ttl` ms. If other instances may wait for the lock, they are notified
   * first. With a gap, no waiter gets it at once.
   */
  release(name: string, owner: string, ttl: number, isAwaited?: boolean, gap?: Gap): Promise<void> {
    const { store } = this;
    const what = (): string => `The release of ${name}`;
    const send = (): Promise<unknown> => store.release(name, owner, isAwaited, gap);
    // A user may lack rights that only a hand-off needs. A lease of 0 ms ends at once, and an extension hands nothing
    // off: waiters find the lock free when they ask again.
    const ifRefused = (): RequestOptions => ({
      what,
      ttl,
      send: () => store.extend([{ name, owner, ttl: 0, exact: true }]),
    });
    return this.run({ what, ttl, send, ifRefused });
  }

  /** Sends a request. Settles with its first reply, and never rejects. */
  run<Reply>(options: RequestOptions<Reply>): Promise<void> {
    return this.start(new Request(options));
  }

  /** Sends a request now, unless it has ended. */
  start(request: Request): Promise<void> {
    return this.machine.next(request, 'due', this.clock.now()) ? this.send(request) : DONE;
  }

  /** Ends the repetition of a request at a time, or when its caller leaves. */
  watch(request: Request, deadline: number, signal: AbortSignal): void {
    const end = (): void => this.feed(request, 'deadline');
    const timer = new AnswerWakeUp(this.clock, end);
    timer.at(deadline);
    const unhook = onAbort(signal, end);
    request.unwatch = () => {
      timer.clear();
      unhook();
    };
  }

  /** Repeats all requests, because the store is reachable again. */
  repeatNow(): void {
    if (this.machine.isIdle) return;
    this.rounds.clear();
    this.machine.hurry();
    this.repeat();
  }

  /** Records that unanswered requests were sent again over a new connection, and repeats the others. */
  reconnected(): void {
    this.machine.noteResent();
    this.repeatNow();
  }

  /** Stops; the remaining leases will expire. */
  stop(): void {
    this.isStopped = true;
    this.rounds.clear();
  }

  private send(request: Request): Promise<void> {
    this.underWay++;
    return request.options.send().then(
      (reply) => this.settle(request, 'answer', reply),
      (error: unknown) => {
        inRootContext(() => this.report(request, error));
        request.failure = error;
        this.settle(request, isRefusal(error) ? 'refusal' : 'silence');
      },
    );
  }

  private settle(request: Request, event: RequestEvent, reply?: unknown): void {
    this.underWay--;
    this.feed(request, event, reply);
  }

  private feed(request: Request, event: RequestEvent, reply?: unknown): void {
    const { options } = request;
    const effect = this.machine.next(request, event, this.clock.now());
    if (effect) request.unwatch?.();
    if (effect === 'abandon') options.abandoned?.();
    if (effect === 'end') options.ended?.(request, reply);
    const following = event === 'refusal' ? options.ifRefused?.() : undefined;
    if (following) void this.run(following);
    this.schedule();
  }

  private repeat(): void {
    const { due, over } = this.machine.round(this.clock.now());
    for (const request of over) this.feed(request, 'deadline');
    for (const request of due) void this.start(request);
    this.schedule();
  }

  private schedule(): void {
    if (!this.machine.isIdle) {
      if (!this.isStopped) this.rounds.at(this.machine.roundAt(this.clock.now()));
      return;
    }
    if (this.unconfirmed === 0) return;
    this.log.log(
      `All releases and ends of waits are confirmed, or their leases have expired: ${this.unconfirmed} were repeated.`,
    );
    this.unconfirmed = 0;
  }

  /** Logs the first of several failures, and what follows from it. */
  private report({ deadline, failure, options }: Request, error: unknown): void {
    const { ifRefused, ttl = 0, what } = options;
    if (!what) return;
    const problem = messageOf(error);
    if (!isRefusal(error)) {
      if (failure === undefined && ++this.unconfirmed === 1)
        this.log.warn(
          `${what()} was not confirmed. The request is repeated until the lease expires. ${problem}`,
        );
      return;
    }
    const now = this.clock.now();
    if (now - (this.refusals.get(problem) ?? -Infinity) < REFUSAL_LOG_INTERVAL) return;
    this.refusals.set(problem, now);
    const left = Math.max(0, Math.round(Math.min(deadline - now, ttl)));
    const sequel = ifRefused
      ? 'A request that only ends the lease follows; waiters find the lock free when they ask again.'
      : `It is not repeated: the lease or the place in the queue expires within ${left} ms.`;
    this.log.warn(`${what()} was refused. ${sequel} ${problem}`);
  }
}
