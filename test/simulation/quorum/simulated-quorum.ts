import type { LockSnapshot } from '../../../lib/store/lock-snapshot.interface.js';
import { QuorumKeys } from '../../../lib/store/quorum/quorum-node.js';
import { mergeSnapshots } from '../../../lib/store/quorum/quorum-operations.js';
import { QuorumStore } from '../../../lib/store/quorum/quorum.store.js';
import { snapshot } from '../../../lib/store/redis/query-names.js';
import { CommandConnection } from '../command-connection.js';
import { InboxConnection } from '../inbox-connection.js';
import type { QuorumTerms, Schedule, TimedStep } from '../schedule.js';
import { EPOCH, HEALING, type Link, type Servers } from '../servers.js';
import type { SimulatedProcess } from '../simulated-process.js';
import type { VirtualTime } from '../virtual-time.js';
import { Weather } from '../weather.js';
import { MemoryNode } from './memory-node.js';
import { NodeWitness } from './node-witness.js';
import { SimulatedNode } from './simulated-node.js';

const KEY_PREFIX = 'lock:';
/** How often contenders propose anew, at most, and then one of them waits for a reservation that nobody takes up. */
const ROUNDS = 8;

/** One node, and its network. */
interface Place {
  readonly node: MemoryNode;
  readonly witness: NodeWitness;
  readonly weather: Weather;
}

/** Several Redis servers that know nothing of each other, each with a clock and a network of its own. */
export class SimulatedQuorum implements Servers {
  readonly healing: number;
  readonly clockSpread: number;
  contendedUntil = 0;
  private readonly places: readonly Place[];
  private rolls = 0;

  constructor(
    private readonly time: VirtualTime,
    private readonly schedule: Schedule,
    private readonly terms: QuorumTerms,
  ) {
    this.healing = HEALING + ROUNDS * terms.nodeTimeout;
    const leads = terms.clocks.map(({ ahead }) => ahead);
    this.clockSpread = Math.max(...leads) - Math.min(...leads);
    this.places = terms.clocks.map(({ ahead, drift }, index) => {
      const node = new MemoryNode(() => EPOCH + ahead + time.now * (1 + drift / 1_000));
      return { node, witness: new NodeWitness(node), weather: new Weather(this.scheduleAt(index)) };
    });
  }

  get revived(): string | undefined {
    return this.places.map(({ witness }) => witness.revived).find(Boolean);
  }

  get longestTrip(): number {
    return Math.max(...this.schedule.latencies);
  }

  link(instance: string, index: number, process: SimulatedProcess): Link {
    const { time, schedule, terms } = this;
    const lanes = this.places.map(({ node, weather, witness }) => {
      const channel = new QuorumKeys(instance, KEY_PREFIX, terms.nodeTimeout).revocations + instance;
      return {
        witness,
        commands: new CommandConnection(time, process, weather, index, schedule.straggle),
        inbox: new InboxConnection(time, process, weather, index, {
          open: (events) => node.subscribe(channel, (message) => events.told(message)),
          close: async () => node.unsubscribe(channel),
        }),
      };
    });
    const nodes = lanes.map(
      ({ witness, commands, inbox }, i) => new SimulatedNode(`node ${i}`, witness, commands, inbox),
    );
    const { nodeTimeout } = terms;
    const random = (): number => this.roll();
    const settings = { nodes, keyPrefix: KEY_PREFIX, instance, nodeTimeout, clock: process, random };
    const hit = (step: Pick<TimedStep, 'node'>, strike: (lane: (typeof lanes)[number]) => void): void =>
      lanes.forEach((lane, i) => this.isAt(step, i) && strike(lane));
    return {
      store: new QuorumStore(settings),
      reset: (step) => hit(step, ({ commands }) => commands.reset(step.lasts, step.resends)),
      deafen: (step) => hit(step, ({ inbox }) => inbox.break(step.lasts, step.first, step.lag)),
      drop: () => hit({}, ({ inbox }) => inbox.drop()),
    };
  }

  query(name: string): LockSnapshot {
    const keys = new QuorumKeys('', KEY_PREFIX, 0).keys(name);
    const views = this.places.map(({ node }) => snapshot(name, node.query(keys)));
    return mergeSnapshots(views, this.places.length);
  }

  clear(step: Pick<TimedStep, 'node'>): void {
    this.places.forEach(({ witness }, i) => this.isAt(step, i) && witness.flush());
  }

  forceRelease(name: string): void {
    const keys = new QuorumKeys('', KEY_PREFIX, this.terms.nodeTimeout);
    for (const { node } of this.places) {
      const [, owner] = node.query(keys.of(name)) as [unknown, string | null];
      const args = [owner ?? '', 0, 'revoke', '', keys.revocations, keys.claimTtl, name];
      node.run('quorum-release', keys.of(name), args);
    }
  }

  private isAt({ node }: Pick<TimedStep, 'node'>, index: number): boolean {
    return node === undefined || node % this.terms.clocks.length === index;
  }

  /** The faults that strike at one node. */
  private scheduleAt(index: number): Schedule {
    const { latencies, steps } = this.schedule;
    return {
      ...this.schedule,
      latencies: latencies.map((_, i) => latencies[(i + index) % latencies.length] ?? 1),
      steps: steps.map((step) =>
        this.isAt(step, index) ? step : { kind: 'crash', instance: 0, noticedAfter: 0, after: step.after },
      ),
    };
  }

  private roll(): number {
    const { dice, nodeTimeout } = this.terms;
    this.contendedUntil = this.time.now + nodeTimeout;
    return dice[this.rolls++ % dice.length] ?? 0;
  }
}
