import { StoreRefusal, TooFewReplicas } from '../../lib/store/store-errors.js';
import { isGrant, type Grant } from '../../lib/store/grant.js';
import type { Request } from './messages.js';
import { Shell } from './shell.js';
import type { Site } from './site.js';
import { sure } from './sure.js';
import { NOTHING, type World } from './world.js';
import { NAMES } from './world-server.js';

const LOST = new Error('The connection was lost.');
const REFUSED = new StoreRefusal('NOPERM this user has no permissions');

/** One step of a world. It names the parts by number, because a successor of the world makes it. */
export interface Move {
  readonly text: string;
  readonly make: (world: World) => void;
}

type Add = (text: string, make: (world: World) => void) => void;

/**
 * Everything that can happen next, and whether that is nothing unless something fails or time passes. An instance to which nothing happens while time passes is frozen. Time passes by
 * itself only when nothing else can happen; from then on, nothing fails any more.
 */
export function movesOf(world: World): { readonly moves: readonly Move[]; readonly isQuiet: boolean } {
  const moves: Move[] = [];
  const add: Add = (text, make) => void moves.push({ text, make });
  for (const site of world.sites) addMovesOfSite(add, world, site);
  const isQuiet = moves.length === 0;
  const { left } = world;
  for (const site of world.sites) {
    addFaults(add, world, site);
    // The end of a tick: nothing but another caller comes before it.
    if (site.topics.some(({ name }) => name.state.kind === 'gathering')) continue;
    site.callers.forEach((caller, n) => {
      if (caller.phase === 'waits' && left.abort > 0)
        add(`${site.id}: caller ${n + 1} aborts`, (w) => {
          w.spend('abort');
          const at = w.site(site.i);
          new Shell(w, at).abort(sure(at.callers[n]));
        });
    });
    if (!site.isClosing && left.close > 0)
      add(`${site.id}: shuts down`, (w) => {
        w.spend('close');
        new Shell(w, w.site(site.i)).close();
      });
  }
  if (left.force > 0)
    NAMES.forEach((name, of) => {
      if (endsIn(world, of).length === 0) return;
      add(`forced release of ${name}`, (w) => {
        w.spend('force');
        w.revoked = [...w.revoked, ...w.ownServer().forceRelease(name).released];
      });
    });
  if (left.tick > 0)
    for (const time of timesOf(world))
      add(`time goes on by ${time - world.now}`, (w) => {
        w.spend('tick');
        w.now = time;
      });
  const [first] = isQuiet ? timesOf(world) : [];
  if (first !== undefined)
    add(`time goes on by ${first - world.now}, without further faults`, (w) => {
      w.left = NOTHING;
      w.isCalm = true;
      w.now = first;
    });
  return { moves, isQuiet };
}

/** What happens in an instance, and between it and the server, without faults. */
function addMovesOfSite(add: Add, world: World, site: Site): void {
  const { id, i, topics, requests, replies, messages, late, callers } = site;
  const move = (text: string, make: (shell: Shell, at: Site) => void): void =>
    add(`${id}: ${text}`, (w) => {
      const at = w.site(i);
      make(new Shell(w, at), at);
    });
  callers.forEach(({ phase, of }, n) => {
    const isAlone = topics.every(({ name }, other) => other === of || name.state.kind !== 'gathering');
    if (phase === 'new' && isAlone)
      move(`caller ${n + 1} enters`, (shell, at) => shell.enter(sure(at.callers[n])));
  });
  const gathering = topics.findIndex(({ name }) => name.state.kind === 'gathering');
  if (gathering >= 0) return move('end of the tick', (shell) => shell.feed(gathering, { kind: 'gathered' }));
  callers.forEach(({ phase, waiter }, n) => {
    if (phase === 'waits' && world.now >= sure(waiter).due)
      move(`caller ${n + 1} has waited long enough`, (shell, at) => {
        const caller = sure(at.callers[n]);
        shell.feed(caller.of, { kind: 'timeout', waiter: sure(caller.waiter) });
      });
    if (phase === 'holds' || phase === 'lost')
      move(`caller ${n + 1} releases`, (shell, at) => shell.release(sure(at.callers[n])));
  });
  const [head] = requests;
  if (site.isCut) move('reconnects', (shell) => shell.reconnect());
  else if (head)
    move(`the server runs ${textOf(head)}`, (shell, at) => {
      const to = sure(at.requests.shift());
      shell.answer(to, shell.run(to));
    });
  late.forEach((request, n) =>
    add(`${id}: the server runs a late ${textOf(request)}${numbered(n)}`, (w) => {
      w.hasRunLate = true;
      const at = w.site(i);
      new Shell(w, at).execute(sure(at.late.splice(n, 1)[0]));
    }),
  );
  const [reply] = replies;
  if (reply)
    move(`hears ${reply.error ? 'no answer' : 'the answer'} to ${textOf(reply.to)}`, (shell) => shell.hear());
  const [message] = messages;
  if (message) move(`gets the message ${message.kind}${ofName(message.of)}`, (shell) => shell.getMessage());
  topics.forEach(({ name, outageAt }, of) => {
    const { state } = name;
    if ((state.kind === 'queued' || state.kind === 'unsure') && world.now >= state.askAt)
      move(`timer${ofName(of)}`, (shell) => shell.feed(of, { kind: 'timer' }));
    if (world.now >= outageAt)
      move(`looks for an outage${ofName(of)}`, (shell, at) => {
        sure(at.topics[of]).outageAt = Infinity;
        shell.feed(of, { kind: 'silence' });
      });
    name.leases.forEach((lease, n) => {
      if (world.now >= lease.deadline)
        move(`sees that its lease has expired${ofName(of)}${numbered(n)}`, (shell, at) =>
          shell.expire(of, sure(sure(at.topics[of]).name.leases[n])),
        );
    });
  });
}

/** What can go wrong between an instance and the server. */
function addFaults(add: Add, { left }: World, { id, i, isCut, requests, messages }: Site): void {
  if (left.cut > 0 && !isCut)
    add(`${id}: its connections break`, (w) => {
      w.spend('cut');
      new Shell(w, w.site(i)).cut();
    });
  const [first] = requests;
  if (first && left.refusal > 0 && !isCut)
    add(`${id}: the server refuses ${textOf(first)} for good`, (w) => {
      w.spend('refusal');
      const at = w.site(i);
      const to = take(at);
      w.hasRefusedCleanUp ||= to.kind === 'release' || to.kind === 'cancel';
      new Shell(w, at).answer(to, undefined, REFUSED);
    });
  if (left.fault === 0 || isCut) return;
  const fault = (text: string, make: (at: Site, shell: Shell) => void): void =>
    add(`${id}: ${text}`, (w) => {
      w.spend('fault');
      const at = w.site(i);
      make(at, new Shell(w, at));
    });
  if (first) addFaultsOf(fault, first);
  const [message] = messages;
  if (message)
    fault(`the message ${message.kind}${ofName(message.of)} is lost`, (at) => void at.messages.shift());
}

function take({ requests }: Site): Request {
  return sure(requests.shift());
}

function addFaultsOf(
  fault: (text: string, make: (at: Site, shell: Shell) => void) => void,
  request: Request,
): void {
  const what = textOf(request);
  fault(`${what} is lost`, (at, shell) => shell.answer(take(at), undefined, LOST));
  fault(`the reply to ${what} is lost`, (at, shell) => {
    const to = take(at);
    shell.execute(to);
    shell.answer(to, undefined, LOST);
  });
  fault(`${what} is late`, (at, shell) => {
    const to = take(at);
    at.late.push(to);
    shell.answer(to, undefined, LOST);
  });
  fault(`${what} is sent twice`, (at, shell) => {
    const to = take(at);
    at.late.push(to);
    shell.answer(to, shell.execute(to));
  });
  const replicas =
    request.kind === 'acquire' || request.kind === 'yield' ? request.request.replicas : undefined;
  if (replicas)
    fault(`too few replicas confirm ${what}`, (at, shell) => {
      const to = take(at);
      const reply = shell.execute(to) as Grant | undefined;
      const isGranted = reply && isGrant(reply);
      shell.answer(to, reply, isGranted ? new TooFewReplicas(reply, replicas) : undefined);
    });
}

function textOf({ kind, of }: Request): string {
  return kind + ofName(of);
}

/** Distinguishes steps. */
function numbered(n: number): string {
  return n === 0 ? '' : ` (${n + 1})`;
}

function ofName(of: number): string {
  return of === 0 ? '' : ` of ${NAMES[of]}`;
}

/** The ends of the leases that the server keeps. */
export function endsIn(world: World, of: number): number[] {
  return world.server.query(sure(NAMES[of])).held.map(({ remaining }) => world.now + sure(remaining));
}

/** Times at which something would change by itself. */
export function timesOf(world: World): number[] {
  const times = NAMES.flatMap((_, of) => endsIn(world, of));
  for (const { topics, callers } of world.sites) {
    for (const { name, outageAt } of topics) {
      const { state } = name;
      if (state.kind === 'queued' || state.kind === 'unsure') times.push(state.askAt);
      times.push(outageAt, ...name.leases.map(({ deadline }) => deadline));
    }
    for (const { phase, waiter } of callers) if (phase === 'waits') times.push(sure(waiter).due);
  }
  return [...new Set(times)].filter((time) => time > world.now && time < Infinity).toSorted((a, b) => a - b);
}
