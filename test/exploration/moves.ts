import { grantsIn, type Shares, type Taken } from '../../lib/store/grant.js';
import { StoreRefusal, TooFewReplicas } from '../../lib/store/store-errors.js';
import type { AcquireRequest } from '../../lib/store/lock-store.js';
import { NAMES } from './names.js';
import { isRepeated, type Request } from './network.js';
import { checkAdoption } from './rules.js';
import type { Site } from './site.js';
import { sure } from './sure.js';
import { endsIn, timesOf } from './times.js';
import { type Move, NOTHING, type World } from './world.js';

const LOST = new Error('The connection was lost.');
const REFUSED = new StoreRefusal('NOPERM this user has no permissions');

type Add = (text: string, make: (world: World) => unknown) => void;

/**
 * Everything that can happen next, and whether that is nothing unless something fails or time passes. An instance to
 * which nothing happens while time passes is frozen. Time passes by itself only when nothing else can happen; from then
 * on, nothing fails any more.
 */
export function movesOf(world: World): { readonly moves: readonly Move[]; readonly isQuiet: boolean } {
  const moves: Move[] = [];
  const add: Add = (text, make) => void moves.push({ text, make });
  for (const site of world.sites) addMovesOfSite(add, world, site);
  const isQuiet = moves.length === 0;
  const { left } = world;
  for (const site of world.sites) {
    const { i, id, callers } = site;
    addFaults(add, world, site);
    callers.forEach(({ phase }, n) => {
      if (phase === 'waits' && left.abort > 0)
        add(`${id[0]}: caller ${n + 1} aborts`, (w) => {
          w.spend('abort');
          sure(siteOf(w, i).callers[n]).abort();
        });
    });
    if (!site.engine.isClosing && left.close > 0)
      add(`${id[0]}: shuts down`, (w) => {
        w.spend('close');
        siteOf(w, i).engine.endWaits();
      });
  }
  if (left.force > 0)
    for (const name of NAMES)
      if (endsIn(world, name).length > 0)
        add(`forced release of ${name}`, (w) => {
          w.spend('force');
          w.revoked.push(...w.server.forceRelease(name).released);
        });
  if (left.tick > 0)
    for (const time of timesOf(world)) {
      const delay = time - world.now;
      add(`time goes on by ${delay}`, (w) => {
        w.spend('tick');
        w.letPass(delay);
      });
    }
  const [first] = isQuiet ? timesOf(world) : [];
  if (first !== undefined) {
    const delay = first - world.now;
    add(`time goes on by ${delay}, without further faults`, (w) => {
      w.left = NOTHING;
      w.isCalm = true;
      w.letPass(delay);
    });
  }
  return { moves, isQuiet };
}

function siteOf({ sites }: World, i: number): Site {
  return sure(sites[i]);
}

/** What happens in an instance, and between it and the server, without faults. */
function addMovesOfSite(add: Add, world: World, { id, i, clock, network, callers }: Site): void {
  const { requests, replies, messages, late } = network;
  const move = (text: string, make: (site: Site, w: World) => unknown): void =>
    add(`${id[0]}: ${text}`, (w) => make(siteOf(w, i), w));
  callers.forEach(({ phase, role }, n) => {
    if (phase === 'new' && (role !== 'takes' || world.passed !== undefined))
      move(`caller ${n + 1} enters`, (site) => site.enter(sure(site.callers[n])));
    if (phase !== 'holds') return;
    if (role === 'runs once' || role === 'fails')
      move(`caller ${n + 1} finishes`, (site) => sure(site.callers[n]).finish(10 * i + n));
    else if (role === 'passes') move(`caller ${n + 1} detaches`, (site) => site.pass(sure(site.callers[n])));
    else move(`caller ${n + 1} releases`, (site) => site.release(sure(site.callers[n])));
  });
  // Callers of one tick may share a bid.
  if (callers.filter(({ phase, options }) => phase === 'new' && options.mode === 'shared').length > 1)
    move('all callers enter', (site) => {
      for (const caller of site.callers) if (caller.phase === 'new') site.enter(caller);
    });
  const [head] = requests;
  if (network.isCut)
    move('reconnects', (site) => {
      site.network.isCut = false;
      site.network.store.open(site.engine);
      site.engine.reconnected();
      site.engine.subscribed();
    });
  else if (head)
    move(`the server runs ${head.kind}`, async (site, w) => {
      const to = take(site);
      const result = await to.run();
      checkAdoption(w, site, to, result);
      site.network.answer(to, result);
    });
  late.forEach((request, n) =>
    move(`the server runs a late ${request.kind}${numbered(n)}`, (site, w) => {
      w.hasRunLate = true;
      return sure(site.network.late.splice(n, 1)[0]).run();
    }),
  );
  const [reply] = replies;
  if (reply)
    move(`hears ${reply.error ? 'no answer' : 'the answer'} to ${reply.to.kind}`, (site) =>
      site.network.hear(),
    );
  const [message] = messages;
  if (message) move(`gets the message ${message.kind}`, (site) => site.network.getMessage(site.engine));
  if (clock.times.some((time) => time <= world.now)) move('a timer fires', (site) => site.clock.fire());
}

/** What can go wrong between an instance and the server. */
function addFaults(add: Add, { left }: World, { id, i, network }: Site): void {
  const { isCut, messages, requests } = network;
  if (left.cut > 0 && !isCut)
    add(`${id[0]}: its connections break`, (w) => {
      w.spend('cut');
      siteOf(w, i).network.cut();
    });
  const [first] = requests;
  if (first && left.refusal > 0 && !isCut)
    add(`${id[0]}: the server refuses ${first.kind} for good`, (w) => {
      w.spend('refusal');
      const site = siteOf(w, i);
      const to = take(site);
      w.hasRefusedEnding ||= isRepeated(to);
      site.network.answer(to, undefined, REFUSED);
    });
  if (left.fault === 0 || isCut) return;
  const fault = (text: string, make: (site: Site) => unknown): void =>
    add(`${id[0]}: ${text}`, (w) => {
      w.spend('fault');
      return make(siteOf(w, i));
    });
  if (first) addFaultsOf(fault, first);
  const [message] = messages;
  if (message) fault(`the message ${message.kind} is lost`, ({ network: at }) => void at.messages.shift());
}

function take({ network }: Site): Request {
  return sure(network.requests.shift());
}

function addFaultsOf(
  fault: (text: string, make: (site: Site) => unknown) => void,
  { kind, args }: Request,
): void {
  fault(`${kind} is lost`, (site) => site.network.answer(take(site), undefined, LOST));
  fault(`the reply to ${kind} is lost`, async (site) => {
    const to = take(site);
    await to.run();
    site.network.answer(to, undefined, LOST);
  });
  fault(`${kind} is late`, (site) => {
    const to = take(site);
    site.network.late.push(to);
    site.network.answer(to, undefined, LOST);
  });
  fault(`${kind} is sent twice`, async (site) => {
    const to = take(site);
    site.network.late.push(to);
    site.network.answer(to, await to.run());
  });
  const { replicas } = (args[0] ?? {}) as Partial<AcquireRequest>;
  if (replicas && ['acquire', 'share', 'yield'].includes(kind))
    fault(`too few replicas confirm ${kind}`, async (site) => {
      const to = take(site);
      const reply = await to.run();
      const grants = grantsIn(reply as Taken | Shares);
      const error = grants.length > 0 ? new TooFewReplicas(grants, replicas) : undefined;
      site.network.answer(to, reply, error);
    });
}

/** Distinguishes steps. */
function numbered(n: number): string {
  return n === 0 ? '' : ` (${n + 1})`;
}
