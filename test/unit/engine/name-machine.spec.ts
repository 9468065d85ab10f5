import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Lease } from '../../../lib/engine/hold/lease.js';
import { Gaps } from '../../../lib/engine/queue/gaps.js';
import { next } from '../../../lib/engine/queue/name-machine.js';
import { NameRecord } from '../../../lib/engine/queue/name-record.js';
import type { Effect } from '../../../lib/engine/queue/name-effect.js';
import type { Event } from '../../../lib/engine/queue/name-event.js';
import type { State } from '../../../lib/engine/queue/bid.js';
import { Waiter } from '../../../lib/engine/queue/waiter.js';
import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { LOCK_OPTION_DEFAULTS, resolveLockOptions } from '../../../lib/options/lock-options.js';
import type { Grant } from '../../../lib/store/grant.js';
import { formatPlace } from '../../../lib/store/place.js';
import { TooFewReplicas } from '../../../lib/store/store-errors.js';
import { tableOf } from '../../docs/documents.js';

const TAKEN = { owner: 'other-1-v1-000000000000:1', remaining: 500, tokenFloor: 1 };
const LOST = new Error('The connection was lost.');
/** Names for the effects that somebody else notices. */
const NOTICED: Partial<Record<Effect['kind'], string>> = {
  acquire: 'acquire',
  share: 'acquire',
  yield: 'yield',
  cancel: 'cancel',
  return: 'release',
  release: 'release',
  admit: 'admit',
  reject: 'reject',
  lose: 'lose',
};

type Kind = State['kind'];

/** The machine of one name, with at most one waiter. */
class Scene {
  readonly record = new NameRecord('n', {
    budget: { max: 32, window: 20 },
    gaps: new Gaps(),
    store: {
      announcesGaps: true,
      trouble: LOST,
      wakesBy: () => 'message',
      place: (claimTtl, wanted, shared) => formatPlace({ instance: 'i', claimTtl, wanted, shared }),
    },
    endedToken: 0,
    noteEndedToken: () => undefined,
  });
  now = 1_000;

  get kind(): Kind {
    return this.record.state.kind;
  }

  get lease(): Lease {
    const { state } = this.record;
    if (state.kind !== 'held') throw new Error(`No lease is in use in the state ${state.kind}.`);
    return state.lease;
  }

  get waiter(): Waiter {
    return this.record.line.first ?? this.caller();
  }

  caller(options: LockOptions = {}): Waiter {
    const resolved = resolveLockOptions(LOCK_OPTION_DEFAULTS, options);
    return new Waiter(
      'n',
      resolved,
      this.now,
      () => undefined,
      () => undefined,
    );
  }

  feed(event: Event): string[] {
    return next(this.record, event, ++this.now).flatMap(({ kind }) => NOTICED[kind] ?? []);
  }
}

function grant(token: number): Grant {
  return { owner: `i:${token}`, token, tokens: 1 };
}

function tooFew(): TooFewReplicas {
  return new TooFewReplicas([grant(10)], { min: 1, timeout: 100 });
}

/** How a name comes into each state, with a waiter in all but the first. */
const WAYS: Readonly<Record<Kind, (scene: Scene) => readonly Event[]>> = {
  idle: () => [],
  gathering: (scene) => [{ kind: 'enter', waiter: scene.caller({ mode: 'shared' }) }],
  asking: (scene) => [{ kind: 'enter', waiter: scene.caller() }],
  queued: (scene) => [...WAYS.asking(scene), { kind: 'answer', reply: TAKEN }],
  unsure: (scene) => [...WAYS.asking(scene), { kind: 'failed', error: LOST }],
  returning: (scene) => [...WAYS.asking(scene), { kind: 'failed', error: tooFew() }],
  held: (scene) => [
    ...WAYS.asking(scene),
    { kind: 'answer', reply: grant(10) },
    { kind: 'enter', waiter: scene.caller() },
  ],
  yielding: () => [],
};

function sceneIn(kind: Kind): Scene {
  const scene = new Scene();
  for (const event of WAYS[kind === 'yielding' ? 'held' : kind](scene)) scene.feed(event);
  if (kind === 'yielding') scene.feed({ kind: 'released', lease: scene.lease });
  expect(scene.kind).toBe(kind);
  return scene;
}

/** The events of the table, by the first column; undefined where the event is about a lease, and there is none. */
const EVENTS: Readonly<Record<string, (scene: Scene) => Event | undefined>> = {
  '`enter`': (scene) => ({ kind: 'enter', waiter: scene.caller() }),
  '`enter`, an attempt': (scene) => ({ kind: 'enter', waiter: scene.caller({ wait: 0 }) }),
  '`leave`': ({ waiter }) => ({ kind: 'leave', waiter, reason: LOST }),
  '`timeout`': ({ waiter }) => ({ kind: 'timeout', waiter }),
  '`answer`, a grant': () => ({ kind: 'answer', reply: grant(20) }),
  '`answer`, taken': () => ({ kind: 'answer', reply: TAKEN }),
  '`contended`': () => ({ kind: 'contended' }),
  '`failed`': () => ({ kind: 'failed', error: LOST }),
  '`failed`, too few replicas': () => ({ kind: 'failed', error: tooFew() }),
  '`returned`': () => ({ kind: 'returned' }),
  '`granted`': () => ({ kind: 'granted', grants: [grant(30)], claimTtl: 3_000 }),
  '`released`': (scene) => released(scene),
  '`released`, no waiter': (scene) => {
    if (scene.kind !== 'held') return undefined;
    scene.feed({ kind: 'leave', waiter: scene.waiter, reason: LOST });
    return released(scene);
  },
  '`released`, beside other clients': (scene) => {
    scene.record.instance.gaps.note('n', 'foreign', scene.now);
    return released(scene);
  },
  '`adopted`': () => ({ kind: 'adopted', lease: new Lease('n', grant(40), 3_000, 0) }),
  '`ended`': ({ record: { exclusiveLease: lease } }) => lease && { kind: 'ended', lease, loss: undefined },
  '`revoked`': ({ record: { exclusiveLease } }) => ({
    kind: 'revoked',
    owner: exclusiveLease?.owner ?? 'i:20',
  }),
  '`ask-again`': () => ({ kind: 'ask-again' }),
  '`reconnected`': () => ({ kind: 'reconnected' }),
  '`silence`': (scene) => {
    scene.now += 60_000;
    return { kind: 'silence' };
  },
  '`end-waits`': () => ({ kind: 'end-waits' }),
  '`gap`': () => ({ kind: 'gap', length: 40 }),
  '`reject-all`': () => ({ kind: 'reject-all', error: () => LOST }),
};

/** Only a lease in use can be released. */
function released(scene: Scene): Event | undefined {
  return scene.kind === 'held' ? { kind: 'released', lease: scene.lease } : undefined;
}

const KINDS = Object.keys(WAYS) as Kind[];

/** What follows from an event in a state: the next state and what others notice; a dash if that is nothing. */
function cell(kind: Kind, event: (scene: Scene) => Event | undefined): string {
  const scene = sceneIn(kind);
  const happens = event(scene);
  const effects = happens ? scene.feed(happens) : [];
  if (effects.length > 0) return `${scene.kind}: ${effects.join(', ')}`;
  return scene.kind === kind ? '–' : scene.kind;
}

describe('The machine of one name', () => {
  it('does in each state what the table of states and events says', () => {
    const rows = Object.entries(EVENTS).map(([title, event]) => ({
      'event of a name': title,
      ...Object.fromEntries(KINDS.map((kind) => [kind, cell(kind, event)])),
    }));
    expect(rows).toEqual(tableOf('event of a name'));
  });

  it('handles no event that the table lacks', () => {
    const source = ['queue/name-event.ts', 'hold/leases.ts']
      .map((file) => readFileSync(join(__dirname, '../../../lib/engine', file), 'utf8'))
      .join('\n');
    const kinds = [...source.matchAll(/readonly kind: '([^']+)'/g)].map(([, kind]) => `\`${kind}\``);

    expect(new Set(Object.keys(EVENTS).map((title) => title.replace(/,.*/, '')))).toEqual(new Set(kinds));
  });
});
