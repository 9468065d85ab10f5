import type { RequestKind } from './schedule.js';
import type { SimulatedProcess } from './simulated-process.js';
import type { Appointment, VirtualTime } from './virtual-time.js';
import type { Weather } from './weather.js';

interface Request {
  readonly execute: () => Promise<unknown>;
  readonly kind: RequestKind | undefined;
  /** A request that waits for its answer however long it takes. */
  readonly patient: boolean;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
  sentAt: number;
  refused: boolean;
  /** Its way to the server; undefined once it has arrived, or was lost. */
  transit: Appointment | undefined;
  executed: boolean;
  timer: Appointment | undefined;
}

export const COMMAND_TIMEOUT = 1_000;
const RECONNECT_DELAY = 50;

/**
 * A connection for commands as ioredis keeps it: requests and replies in order; after a break, what was not
 * answered is sent again. One on which nothing is answered is replaced after the command timeout.
 */
export class CommandConnection {
  /** Called when the connection is there again, after what was not answered has been sent again. */
  reconnected: () => void = () => undefined;
  private generation = 0;
  private up = true;
  private unanswered: Request[] = [];
  private lost = { requests: false, replies: false };
  private lastArrival = 0;
  private lastReply = 0;
  private answeredAt = -Infinity;
  private replacedAt = -Infinity;

  constructor(
    private readonly time: VirtualTime,
    private readonly process: SimulatedProcess,
    private readonly weather: Weather,
    private readonly instance: number,
    private readonly straggle: number | undefined,
  ) {}

  /** Whether the client believes that the server can be reached. */
  get isUp(): boolean {
    return this.up;
  }

  /** Sends a request. The server never denies requests without a kind. */
  send<T>(execute: () => Promise<T>, patience: 'patient' | 'impatient', kind?: RequestKind): Promise<T> {
    return new Promise<unknown>((resolve, reject) => {
      const request: Request = {
        execute,
        kind,
        patient: patience === 'patient',
        resolve,
        reject,
        sentAt: this.time.now,
        refused: false,
        transit: undefined,
        executed: false,
        timer: undefined,
      };
      this.unanswered.push(request);
      this.watch(request);
      if (this.up) this.transmit(request);
    }) as Promise<T>;
  }

  /** Breaks the connection for a while. */
  reset(lasts: number, resends: boolean): void {
    const generation = ++this.generation;
    this.up = false;
    this.lost = { requests: false, replies: false };
    this.lastArrival = this.lastReply = 0;
    for (const request of this.unanswered) this.strand(request);
    if (!resends) this.process.run('replies', () => this.failAll());
    this.time.after(lasts, () =>
      this.process.run('replies', () => {
        if (generation === this.generation) this.reconnect();
      }),
    );
  }

  private reconnect(): void {
    this.up = true;
    for (const request of this.unanswered) this.transmit(request);
    this.reconnected();
  }

  /** A request on its way when the connection breaks is lost, or arrives after all when nobody expects it any more. */
  private strand(request: Request): void {
    if (request.transit) request.transit.cancelled = true;
    if (this.straggle !== undefined && request.transit && !request.executed)
      this.time.after(this.straggle, () => void request.execute());
    request.transit = undefined;
    request.executed = false;
  }

  private failAll(): void {
    for (const request of this.unanswered.splice(0)) {
      if (request.timer) request.timer.cancelled = true;
      if (!request.refused) request.reject(new Error('Connection is closed.'));
    }
  }

  private transmit(request: Request): void {
    const { generation } = this;
    const arrival = this.weather.arrival(this.time.now, this.instance, 'requests');
    if (arrival === undefined) this.lost.requests = true;
    if (arrival === undefined || this.lost.requests) return;
    this.lastArrival = this.weather.served(Math.max(this.lastArrival, arrival));
    request.transit = this.time.at(this.lastArrival, () => {
      request.executed = true;
      const refusal = this.weather.refusal(this.time.now, this.instance, request.kind);
      if (refusal) return this.answer(request, () => request.reject(refusal));
      void request.execute().then((reply) => {
        if (generation === this.generation) this.answer(request, () => request.resolve(reply));
      });
    });
  }

  private answer(request: Request, settle: () => void): void {
    const { generation } = this;
    const arrival = this.weather.arrival(this.time.now, this.instance, 'replies');
    if (arrival === undefined) this.lost.replies = true;
    if (arrival === undefined || this.lost.replies) return;
    this.lastReply = Math.max(this.lastReply, arrival);
    this.time.at(this.lastReply, () =>
      this.process.run('replies', () => {
        if (generation === this.generation) this.settle(request, settle);
      }),
    );
  }

  private settle(request: Request, settle: () => void): void {
    this.answeredAt = this.time.now;
    this.unanswered = this.unanswered.filter((other) => other !== request);
    if (request.timer) request.timer.cancelled = true;
    if (!request.refused) settle();
  }

  /** The next connection has as much time to answer. */
  private replaceSilent(): void {
    if (!this.up || this.time.now < this.replacedAt + COMMAND_TIMEOUT) return;
    this.replacedAt = this.time.now;
    this.reset(RECONNECT_DELAY, true);
  }

  private watch(request: Request): void {
    request.timer = this.time.after(COMMAND_TIMEOUT, () =>
      this.process.run('timers', () => {
        if (!this.unanswered.includes(request)) return;
        if (this.answeredAt < request.sentAt) this.replaceSilent();
        if (request.patient) {
          request.sentAt = this.time.now;
          return this.watch(request);
        }
        request.refused = true;
        request.reject(new Error(`No answer within ${COMMAND_TIMEOUT} ms.`));
      }),
    );
  }
}
