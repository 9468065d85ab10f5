/** Milliseconds until the next round after one without a reply; doubled each time. */
const MIN_DELAY = 50;
const MAX_DELAY = 1_000;
/** Maximum number of repeated requests in flight, which fit into a few calls: an outage must not accumulate requests. */
const ROUND = 256;

export type RequestState =
  /** Not in flight: it has not been sent yet, or there was no reply. */
  | 'waiting'
  | 'sent'
  /** In flight for the last time, because its caller has left or its deadline has passed. */
  | 'abandoned'
  | 'ended';

export type RequestEvent =
  /** The first sending, or the next round. */
  | 'due'
  | 'answer'
  /** The store refuses the request for good. */
  | 'refusal'
  /** There was no reply, or an error that says nothing about the effect. */
  | 'silence'
  /** Its deadline has passed, or its caller has left. */
  | 'deadline';

/** What the shell does. */
export type RequestEffect = 'send' | 'abandon' | 'end';

/** What a request does, and what follows from its end. */
export interface RequestOptions<Reply = unknown> {
  send(): Promise<Reply>;
  /** What the log calls it; undefined if its caller learns of failures. */
  readonly what?: () => string;
  /** Milliseconds after its first failure for which it is repeated: then nothing is left to end. */
  readonly ttl?: number;
  /** Whether it may be repeated now; always, if undefined. */
  readonly mayRepeat?: () => boolean;
  /** Called when it is not repeated any more, although its last reply is still to come. */
  abandoned?(): void;
  /** Called once, with the reply if there was one. */
  ended?(request: Request<Reply>, reply: Reply | undefined): void;
  /** What to send instead if the store refuses it for good. */
  readonly ifRefused?: (() => RequestOptions) | undefined;
}

/** An idempotent request that is repeated until it is answered. */
export class Request<Reply = unknown> {
  state: RequestState = 'waiting';
  /** Until when it is repeated. */
  deadline = Infinity;
  /** The last error. */
  failure: unknown;
  /** Whether its caller left, or its deadline passed, before its end. */
  isLate = false;
  /** Whether a sending without a reply may have had an effect. */
  isInDoubt = false;
  /** Whether it was sent before its last sending. */
  isRepeated = false;
  /** The number of the connection over which it was sent. */
  connection = 0;
  /** Stops watching its deadline and its caller. */
  unwatch: (() => void) | undefined;

  constructor(readonly options: RequestOptions<Reply>) {}
}

type Step = readonly [RequestState, RequestEffect?];

const END: Step = ['ended', 'end'];
const ABANDON: Step = ['abandoned', 'abandon'];

/** For each state, the next one after an event, and what the shell does. Other events change nothing. */
const STEPS: Readonly<Record<RequestState, Readonly<Partial<Record<RequestEvent, Step>>>>> = {
  waiting: { due: ['sent', 'send'], deadline: END },
  sent: { answer: END, refusal: END, silence: ['waiting'], deadline: ABANDON },
  abandoned: { answer: END, refusal: END, silence: END },
  ended: {},
};

/**
 * Decides what follows from each event of the requests of one instance, and when they are repeated. It uses no I/O, no
 * Promises, no timers and no clock.
 */
export class RequestMachine {
  /** Requests without a reply, in the order of their repetition. */
  private readonly unanswered = new Set<Request>();
  /** Number of repeated requests in flight. */
  private repeated = 0;
  private delay = MIN_DELAY;
  private connection = 0;

  /** Whether all requests have been answered or have ended. */
  get isIdle(): boolean {
    return this.unanswered.size === 0 && this.repeated === 0;
  }

  /** When the next round is due. */
  roundAt(now: number): number {
    return this.unanswered.size > 0 && this.repeated < ROUND ? now + this.delay : Infinity;
  }

  next(request: Request, event: RequestEvent, now: number): RequestEffect | undefined {
    const { state } = request;
    const [next, effect] = STEPS[state][event] ?? [state];
    request.state = next;
    if (state === 'waiting') this.unanswered.delete(request);
    if (effect === 'send') {
      request.connection = this.connection;
      if (request.isRepeated) this.repeated++;
    } else if (event === 'answer' || event === 'refusal' || event === 'silence') {
      this.settle(request, event, now);
    }
    request.isLate ||= event === 'deadline';
    return effect;
  }

  /** Decides which requests are sent in a round, and which have ended. */
  round(now: number): { readonly due: readonly Request[]; readonly over: readonly Request[] } {
    const waiting = [...this.unanswered];
    this.delay = Math.min(2 * this.delay, MAX_DELAY);
    const over = waiting.filter(({ deadline }) => deadline <= now);
    const due = waiting.filter(({ deadline, options }) => deadline > now && (options.mayRepeat?.() ?? true));
    return { over, due: due.slice(0, ROUND - this.repeated) };
  }

  /** Makes the next rounds follow soon, because the store can be reached. */
  hurry(): void {
    this.delay = MIN_DELAY;
  }

  /** Records that the connection was lost and unanswered requests were sent again. */
  noteResent(): void {
    this.connection++;
  }

  private settle(request: Request, event: RequestEvent, now: number): void {
    if (request.isRepeated) {
      this.repeated--;
      if (event === 'answer') this.hurry();
    } else if (event === 'silence' && (this.isIdle || !request.options.ttl)) {
      // The first of several failures, or one whose caller waits: the repetition follows soon.
      this.hurry();
    }
    request.isRepeated = true;
    if (event === 'silence' || request.connection !== this.connection) request.isInDoubt = true;
    if (request.state !== 'waiting') return;
    const { ttl = Infinity } = request.options;
    request.deadline = Math.min(request.deadline, now + ttl);
    this.unanswered.add(request);
  }
}
