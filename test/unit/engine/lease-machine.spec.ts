import { Lease, type LeaseUser } from '../../../lib/engine/hold/lease.js';
import { type Decisions, LeaseMachine, type RenewalBatch } from '../../../lib/engine/hold/lease-machine.js';
import type { Extended } from '../../../lib/store/lock-store.js';
import { tableOf } from '../../docs/documents.js';

const TTL = 3_000;
/** The end of a lease of {@link TTL} ms that was requested at 0: one per cent and 2 ms are for clocks that differ. */
const DEADLINE = TTL * 0.99 - 2;

/** One lease, and time that passes only when a test says so. */
class Scene {
  now = 0;
  readonly lease: Lease;
  readonly leases: Lease[];
  readonly machine = new LeaseMachine(() => this.leases);

  constructor(name = 'n') {
    this.lease = new Lease(name, { owner: 'me:1', token: 1, tokens: 1 }, TTL, 0);
    this.leases = [this.lease];
  }

  /** Lets time pass until a moment, and carries out what is due then. */
  at(now: number): readonly RenewalBatch[] {
    this.now = now;
    return this.send(this.machine.at(now));
  }

  send(decisions: Decisions): readonly RenewalBatch[] {
    if (decisions.lost.length > 0) throw new Error('The lease has ended.');
    return this.machine.batchesOf(decisions, this.now, 500);
  }

  answer(batch: RenewalBatch | undefined, ...reply: readonly Extended[]): Decisions {
    if (!batch) throw new Error('Nothing was requested.');
    return this.machine.answer(batch, reply, this.now);
  }
}

type State = 'fresh' | 'due' | 'renewing' | 'not renewed' | 'in transfer' | 'maxHold over' | 'expired';

/** How a lease comes into each state. */
const WAYS: Readonly<Record<State, (scene: Scene) => void>> = {
  fresh: (scene) => void (scene.now = 100),
  due: (scene) => void (scene.now = TTL / 3),
  renewing: (scene) => void (scene.now = TTL / 3 + 10),
  'not renewed': (scene) => {
    scene.now = TTL / 3;
    scene.lease.renew = false;
  },
  'in transfer': (scene) => {
    scene.now = TTL / 3;
    scene.lease.state = 'in transfer';
  },
  'maxHold over': (scene) => {
    scene.now = TTL / 3;
    scene.lease.hold = { endsAt: scene.now } as LeaseUser;
  },
  expired: (scene) => void (scene.now = DEADLINE),
};
const STATES = Object.keys(WAYS) as State[];
/** In these, the table has no reply: no request is in flight. */
const UNASKED: readonly State[] = ['fresh', 'due'];

function toldOf({ lost, overdue }: Decisions): string[] {
  return [...lost.map(() => 'lose'), ...overdue.map(() => 'end the hold')];
}

/** What the machine decides about a lease in a state, without a reply. */
function decided(state: State, decide: (scene: Scene) => Decisions): string {
  const scene = new Scene();
  if (state === 'renewing') scene.at(TTL / 3);
  WAYS[state](scene);
  const decisions = decide(scene);
  const requests = scene.machine.batchesOf(decisions, scene.now, 500).flatMap((batch) => batch.extensions);
  const told = [...toldOf(decisions), ...requests.map(({ ttl }) => (ttl === TTL ? 'renew' : 'check'))];
  return told.join(', ') || '–';
}

/** What the machine decides about a lease in a state, on the reply to a renewal that was sent before. */
function heard(state: State, ...reply: readonly Extended[]): string {
  if (UNASKED.includes(state)) return '';
  const scene = new Scene();
  const [batch] = scene.at(TTL / 3 - 100);
  WAYS[state](scene);
  const { deadline } = scene.lease;
  const told = toldOf(scene.answer(batch, ...reply));
  if (scene.lease.deadline > deadline) told.push('confirm');
  else if (told.length === 0 && !scene.lease.renewing && !scene.lease.isInTransfer) told.push('retry');
  return told.join(', ') || '–';
}

/** The rows of the table, by the first column. */
const EVENTS: Readonly<Record<string, (state: State) => string>> = {
  'the timer rings': (state) => decided(state, ({ machine, now }) => machine.at(now)),
  'the connection is back': (state) => decided(state, ({ machine, now }) => machine.atReconnect(now)),
  'reply: kept': (state) => heard(state, 1),
  'reply: gone': (state) => heard(state, 0),
  'no reply, or undecided': (state) => heard(state, undefined),
};

describe('The machine of leases', () => {
  it('decides in each state what the table of leases says', () => {
    const rows = Object.entries(EVENTS).map(([title, decide]) => ({
      'event of a lease': title,
      ...Object.fromEntries(STATES.map((state) => [state, decide(state)])),
    }));

    expect(rows).toEqual(tableOf('event of a lease'));
  });

  it('wakes up for the renewal, and for the deadline while the renewal is in flight', () => {
    const { lease, machine, ...scene } = new Scene();
    expect(machine.at(100).wakeAt).toBe(TTL / 3);
    machine.batchesOf(machine.at(TTL / 3), TTL / 3, 500);

    expect(machine.at(TTL / 3 + 1).wakeAt).toBe(DEADLINE);
    expect([lease.renewing, scene.now]).toEqual([true, 0]);
  });

  it('renews leases together that are due at nearly the same time', () => {
    const scene = new Scene();
    const later = new Lease('m', { owner: 'me:2', token: 2, tokens: 1 }, TTL, 400);
    scene.leases.push(later);

    expect(scene.at(TTL / 3).map(({ leases }) => leases)).toEqual([[scene.lease, later]]);
  });

  it('ignores the reply for a lease that another hold uses after a time without renewal', () => {
    const scene = new Scene();
    const [batch] = scene.at(TTL / 3);
    scene.lease.unwatch();
    expect(scene.answer(batch, 0).lost).toEqual([]);
    scene.lease.use({ renew: true, replicas: undefined, ttl: TTL });

    expect(scene.at(TTL / 3 + 1)).toHaveLength(1);
  });

  it('sends no renewal for a lease that was released by a listener of another loss', () => {
    const scene = new Scene();
    const decisions = scene.machine.at(TTL / 3);
    scene.lease.state = 'ended';

    expect(scene.machine.batchesOf(decisions, TTL / 3, 500)).toEqual([]);
  });

  it('repeats an undecided renewal soon, and never makes the lease longer by it', () => {
    const scene = new Scene();
    for (const now of [1_000, 1_300, 1_600, 2_900]) {
      const [batch] = scene.at(now);
      expect(scene.answer(batch, undefined).lost).toEqual([]);
      expect(scene.lease.renewAt).toBe(now + 300);
    }

    expect(scene.machine.at(DEADLINE).lost).toMatchObject([{ loss: { reason: 'expired' } }]);
  });

  it('shortens a lease at once that the store keeps for longer than requested', () => {
    const scene = new Scene();
    const [first] = scene.at(1_000);
    expect(scene.answer(first, 60_000).wakeAt).toBe(1_000);
    const [second] = scene.at(1_001);

    expect([first?.extensions[0]?.exact, second?.extensions[0]?.exact]).toEqual([false, true]);
  });

  it('leaves a lease unchanged that an earlier delayed request explains', () => {
    const scene = new Scene();
    const [batch] = scene.at(1_000);

    expect(scene.answer(batch, 3_200).wakeAt).toBe(2_000);
  });

  it('divides renewals into full batches', () => {
    const scene = new Scene('a');
    const others = ['b', 'c', 'd'].map(
      (name) => new Lease(name, { owner: 'me:1', token: 1, tokens: 1 }, TTL, 0),
    );
    scene.leases.push(...others);
    const batches = scene.machine.batchesOf(scene.machine.at(1_000), 1_000, 3);

    expect(batches.map(({ extensions }) => extensions.map(({ name }) => name))).toEqual([
      ['a', 'b', 'c'],
      ['d'],
    ]);
  });
});
