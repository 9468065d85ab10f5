import { NAME, type Instance, type Request, type World } from './world.js';
import { sure } from './sure.js';

/** How often something may happen at most. */
export type Budget = World['spentOn'];

/** One step of a world. It names the parts by number, because it is carried out in a copy. */
export interface Move {
  readonly text: string;
  readonly make: (world: World) => void;
}

/** Everything that can happen next. An instance to which nothing happens while time passes is frozen. */
export function movesOf(world: World, budget: Budget): Move[] {
  const moves: Move[] = [];
  const add = (text: string, make: (world: World) => void): void => void moves.push({ text, make });
  world.instances.forEach((instance, i) => addMovesOf(add, world, instance, i, budget));
  world.callers.forEach((caller, n) => {
    const { phase, at } = caller;
    const who = `caller ${n + 1} at ${sure(world.instances[at]).id}`;
    if (phase === 'new') add(`${who} enters`, (w) => w.callerEnters(sure(w.callers[n])));
    if (sure(world.instances[at]).name.state.kind === 'gathering') return;
    if (phase === 'waits' && allows(world, budget, 'abort'))
      add(`${who} aborts`, (w) => {
        w.spentOn.abort++;
        w.callerLeaves(sure(w.callers[n]));
      });
    if (phase === 'waits' && caller.isWatched && world.now >= sure(caller.waiter).due)
      add(`${who} has waited long enough`, (w) => {
        const { at: where, waiter } = sure(w.callers[n]);
        w.feed(sure(w.instances[where]), { kind: 'timeout', waiter: sure(waiter) });
      });
    if (phase === 'holds' || phase === 'lost')
      add(`${who} releases`, (w) => w.callerReleases(sure(w.callers[n])));
  });
  if (allows(world, budget, 'force') && endsIn(world).length > 0)
    add('forced release', (w) => {
      w.spentOn.force++;
      for (const owner of w.server.forceRelease(NAME).released) w.revoked.add(owner);
    });
  if (allows(world, budget, 'tick'))
    for (const time of timesOf(world))
      add(`time goes to ${time}`, (w) => {
        w.spentOn.tick++;
        w.now = time;
      });
  return moves;
}

function addMovesOf(
  add: (text: string, make: (world: World) => void) => void,
  world: World,
  instance: Instance,
  i: number,
  budget: Budget,
): void {
  const { id, name, requests, replies, messages, late } = instance;
  const { state } = name;
  // The end of a tick: nothing but another caller comes before it.
  if (state.kind === 'gathering')
    return add(`${id}: end of the tick`, (w) => w.feed(sure(w.instances[i]), { kind: 'gathered' }));
  const [head] = requests;
  const mayFail = allows(world, budget, 'fault');
  const fault = (text: string, make: (at: Instance, w: World) => void): void =>
    add(`${id}: ${text}`, (w) => {
      w.spentOn.fault++;
      make(sure(w.instances[i]), w);
    });
  if (head) {
    const { kind } = head;
    add(`${id}: the server runs ${kind}`, (w) => answer(w, sure(w.instances[i]), 'answered'));
    if (mayFail) {
      fault(`${kind} is lost`, ({ requests: all, replies: back }) =>
        back.push({ to: sure(all.shift()), failed: true }),
      );
      fault(`the reply to ${kind} is lost`, (at, w) => answer(w, at, 'failed'));
      fault(`${kind} is late`, ({ requests: all, replies: back, late: later }) => {
        const to = sure(all.shift());
        later.push({ ...to });
        back.push({ to, failed: true });
      });
      fault(`${kind} is sent twice`, (at, w) => {
        at.late.push({ ...sure(at.requests[0]) });
        answer(w, at, 'answered');
      });
    }
  }
  late.forEach(({ kind }, n) =>
    add(`${id}: the server runs a late ${kind}`, (w) => {
      const at = sure(w.instances[i]);
      w.hasRunLate = true;
      w.execute(at, sure(at.late.splice(n, 1)[0]));
    }),
  );
  if (replies[0])
    add(`${id}: hears ${replies[0].failed ? 'no answer' : 'the answer'} to ${replies[0].to.kind}`, (w) =>
      w.hear(sure(w.instances[i])),
    );
  if (messages[0]) {
    add(`${id}: gets the message ${messages[0].kind}`, (w) => w.getsMessage(sure(w.instances[i])));
    if (mayFail) fault(`the message ${messages[0].kind} is lost`, (at) => at.messages.shift());
  }
  if ((state.kind === 'queued' || state.kind === 'unsure') && world.now >= state.askAt)
    add(`${id}: timer`, (w) => w.feed(sure(w.instances[i]), { kind: 'timer' }));
  if (world.now >= instance.outageAt)
    add(`${id}: looks for an outage`, (w) => {
      const at = sure(w.instances[i]);
      at.outageAt = Infinity;
      w.feed(at, { kind: 'silence' });
    });
  if (instance.hasSpares)
    add(`${id}: spare leases are unused`, (w) => {
      const at = sure(w.instances[i]);
      at.hasSpares = false;
      w.feed(at, { kind: 'spares-unused' });
    });
  name.leases.forEach((lease, n) => {
    if (world.now >= lease.deadline)
      add(`${id}: sees that its lease has expired`, (w) => {
        const at = sure(w.instances[i]);
        w.expires(at, sure(at.name.leases[n]));
      });
  });
  if (i === 0 && !instance.isClosing && allows(world, budget, 'close'))
    add(`${id}: shuts down`, (w) => {
      w.spentOn.close++;
      w.closes(sure(w.instances[0]));
    });
}

function answer(world: World, at: Instance, outcome: 'answered' | 'failed'): void {
  const to: Request = sure(at.requests.shift());
  const result = world.execute(at, to);
  at.replies.push(outcome === 'failed' ? { to, failed: true } : { to, failed: false, result });
}

function allows({ spentOn }: World, budget: Budget, what: keyof Budget): boolean {
  return spentOn[what] < budget[what];
}

/** The ends of the leases that the server keeps. */
export function endsIn(world: World): number[] {
  return world.server.query(NAME).held.map(({ remaining }) => world.now + sure(remaining));
}

/** Times at which something would change by itself. */
export function timesOf(world: World): number[] {
  const times = endsIn(world);
  for (const { name, outageAt } of world.instances) {
    const { state } = name;
    if (state.kind === 'queued' || state.kind === 'unsure') times.push(state.askAt);
    times.push(outageAt, ...name.leases.map(({ deadline }) => deadline));
  }
  for (const { phase, waiter, isWatched } of world.callers)
    if (phase === 'waits' && isWatched) times.push(sure(waiter).due);
  return [...new Set(times)].filter((time) => time > world.now && time < Infinity).toSorted((a, b) => a - b);
}
