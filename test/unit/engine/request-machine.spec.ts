import {
  Request,
  type RequestEffect,
  type RequestEvent,
  RequestMachine,
  type RequestState,
} from '../../../lib/engine/hold/request-machine.js';
import { tableOf } from '../../docs/documents.js';

const TTL = 1_000;

/** The events on the way of a request to each state. */
const WAYS: Readonly<Record<RequestState, readonly RequestEvent[]>> = {
  waiting: [],
  sent: ['due'],
  abandoned: ['due', 'deadline'],
  ended: ['deadline'],
};
const EVENTS: readonly RequestEvent[] = ['due', 'answer', 'refusal', 'silence', 'deadline'];
/** Replies, which only a request in flight receives. */
const REPLIES: readonly RequestEvent[] = ['answer', 'refusal', 'silence'];

const send = (): Promise<void> => Promise.resolve();

function newRequest(mayRepeat?: () => boolean): Request {
  return new Request(mayRepeat ? { send, ttl: TTL, mayRepeat } : { send, ttl: TTL });
}

function play(
  machine: RequestMachine,
  request: Request,
  events: readonly RequestEvent[],
  now = 0,
): RequestEffect | undefined {
  let effect: RequestEffect | undefined;
  for (const event of events) effect = machine.next(request, event, now);
  return effect;
}

/** Lets requests fail once at 0; all of them wait for the next round. */
function failing(machine: RequestMachine, count: number): readonly Request[] {
  const requests = Array.from({ length: count }, () => newRequest());
  for (const request of requests) play(machine, request, ['due', 'silence']);
  return requests;
}

/** What follows from an event in a state, as the table says it. */
function outcomeOf(state: RequestState, event: RequestEvent): string {
  if (state === 'waiting' && REPLIES.includes(event)) return '';
  const machine = new RequestMachine();
  const request = newRequest();
  play(machine, request, WAYS[state]);
  const effect = play(machine, request, [event]);
  if (request.state === state && !effect) return '–';
  return effect ? `${request.state}: ${effect}` : request.state;
}

describe('The machine of requests', () => {
  it('decides in each state what the table of requests says', () => {
    const states = (Object.keys(WAYS) as RequestState[]).filter((state) => state !== 'ended');
    const rows = EVENTS.map((event) => ({
      'event of a request': `\`${event}\``,
      ...Object.fromEntries(states.map((state) => [state, outcomeOf(state, event)])),
    }));

    expect(rows).toEqual(tableOf('event of a request'));
  });

  it('ends a request once', () => {
    const machine = new RequestMachine();
    const request = newRequest();
    play(machine, request, ['due', 'answer']);

    expect(EVENTS.map((event) => machine.next(request, event, 1))).toEqual(EVENTS.map(() => undefined));
  });

  it.each([
    ['was refused at once', ['due', 'refusal'], false],
    ['was answered', ['due', 'answer'], false],
    ['was never sent', ['deadline'], false],
    ['had no reply before', ['due', 'silence', 'due', 'refusal'], true],
    ['has no reply', ['due', 'deadline', 'silence'], true],
  ] as const)('says whether a request that %s may have had an effect', (_, events, isInDoubt) => {
    const request = newRequest();
    play(new RequestMachine(), request, events);

    expect([request.state, request.isInDoubt]).toEqual(['ended', isInDoubt]);
  });

  it('holds in doubt what a connection has sent twice', () => {
    const machine = new RequestMachine();
    const request = newRequest();
    play(machine, request, ['due']);
    machine.noteResent();
    play(machine, request, ['refusal']);

    expect(request.isInDoubt).toBe(true);
  });

  it('doubles the time between rounds, up to a second, until a repeated request is answered', () => {
    const machine = new RequestMachine();
    const [request, other] = failing(machine, 2) as [Request, Request];
    const delays = Array.from({ length: 7 }, () => {
      const delay = machine.roundAt(0);
      machine.round(0);
      play(machine, request, ['due', 'silence']);
      return delay;
    });
    expect(delays).toEqual([50, 100, 200, 400, 800, 1_000, 1_000]);
    play(machine, newRequest(), ['due', 'answer']);
    expect(machine.roundAt(0)).toBe(1_000);
    play(machine, other, ['due', 'answer']);

    expect(machine.roundAt(0)).toBe(50);
  });

  it('repeats a request with a caller soon, whatever else waits for an answer', () => {
    const machine = new RequestMachine();
    failing(machine, 1);
    for (let round = 0; round < 5; round++) machine.round(0);
    play(machine, newRequest(), ['due', 'silence']);
    expect(machine.roundAt(0)).toBe(1_000);
    play(machine, new Request({ send }), ['due', 'answer']);
    expect(machine.roundAt(0)).toBe(1_000);
    play(machine, new Request({ send }), ['due', 'silence']);

    expect(machine.roundAt(0)).toBe(50);
  });

  it('sends as many as fit into a few calls, and the others when those are answered', () => {
    const machine = new RequestMachine();
    failing(machine, 300);
    const { due } = machine.round(50);
    expect(due).toHaveLength(256);
    for (const request of due) play(machine, request, ['due']);
    expect(machine.roundAt(50)).toBe(Infinity);
    expect(machine.round(50).due).toEqual([]);
    for (const request of due) play(machine, request, ['answer']);

    expect(machine.roundAt(60)).toBe(110);
    expect(machine.round(110).due).toHaveLength(44);
  });

  it('sends those last that have failed last', () => {
    const machine = new RequestMachine();
    const [first, second] = failing(machine, 2) as [Request, Request];
    play(machine, first, ['due', 'silence']);

    expect(machine.round(50).due).toEqual([second, first]);
  });

  it('ends requests whose leases have expired, and keeps those that may not be repeated now', () => {
    const machine = new RequestMachine();
    let mayRepeat = false;
    const [request] = failing(machine, 1) as [Request];
    const postponed = newRequest(() => mayRepeat);
    play(machine, postponed, ['due', 'silence'], 500);
    expect(machine.round(999)).toEqual({ due: [request], over: [] });
    expect(machine.round(1_000)).toEqual({ due: [], over: [request] });
    mayRepeat = true;

    expect(machine.round(1_000).due).toEqual([postponed]);
  });

  it('is idle when every request has ended', () => {
    const machine = new RequestMachine();
    const [request] = failing(machine, 1) as [Request];
    expect(machine.isIdle).toBe(false);
    play(machine, request, ['due']);
    expect(machine.isIdle).toBe(false);
    play(machine, request, ['answer']);

    expect([machine.isIdle, machine.roundAt(0)]).toEqual([true, Infinity]);
  });
});
