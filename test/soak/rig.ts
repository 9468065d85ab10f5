import { setTimeout as sleep } from 'node:timers/promises';
import type { LockService } from '../../lib/index.js';
import type { ContenderCalls } from '../faults/support/contender.worker.js';
import { Contenders } from '../faults/support/contenders.js';
import { FaultScene, TTL, type SceneReport } from '../faults/support/fault-scene.js';
import { fencedOffHolders, fallingTokens, lateAborts, overlaps } from '../faults/support/hold-checks.js';
import { LockServices } from '../faults/support/lock-services.js';
import { breakAtRandom } from '../faults/support/random-faults.js';
import type { SeededRandom } from '../faults/support/seeded-random.js';
import type { FlatOptions } from '../support/flat-options.js';
import { IndependentMasters } from '../support/independent-masters.js';
import { RedisCluster } from '../support/redis-cluster.js';
import type { RedisServer } from '../support/redis-server.js';
import type { Worker } from '../support/worker.js';

export const NAMES = ['red', 'green', 'blue', 'white', 'black', 'grey'] as const;
const PROCESSES = 3;
/** Longest fault in milliseconds. It may outlast a lease, but no caller. */
const LONGEST = 1_500;

/** Processes that contend for locks on servers of one kind, and what can happen to them. */
export interface Rig extends AsyncDisposable {
  readonly workers: readonly Worker<ContenderCalls>[];
  readonly operator: LockService;
  /** Whether waiters are served in arrival order. */
  readonly hasOrder: boolean;
  open(): Promise<unknown>;
  /** Breaks something for so many milliseconds; resolves to the number of faults. */
  breakFor(milliseconds: number, random: SeededRandom): Promise<number>;
  close(): Promise<SceneReport>;
}

export async function onOneRedis(): Promise<Rig> {
  const scene = await FaultScene.start(PROCESSES);
  return {
    workers: scene.contenders.map(({ worker }) => worker),
    operator: scene.operator,
    hasOrder: true,
    open: () => scene.open(),
    breakFor: async (duration, random) =>
      (await breakAtRandom(scene, random, duration, { names: NAMES, takeData: false })).length,
    close: () => scene.close(),
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  };
}

export async function onACluster(): Promise<Rig> {
  // So long that no silent node counts as down: a failover may lose grants, as the guarantees say.
  const cluster = await RedisCluster.start({ replicas: 0, nodeTimeout: 15_000 });
  const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }));
  return severalServers(cluster, cluster.servers, { connection: { nodes } }, true);
}

export async function onAQuorum(): Promise<Rig> {
  const masters = await IndependentMasters.start(3);
  const servers = masters.nodes.map(({ server }) => server);
  return severalServers(masters, servers, { connection: masters.urls, nodeTimeout: 150 }, false);
}

async function severalServers(
  topology: AsyncDisposable,
  servers: readonly RedisServer[],
  options: FlatOptions,
  hasOrder: boolean,
): Promise<Rig> {
  const services = new LockServices();
  const contenders = await Contenders.start(PROCESSES);
  const { workers } = contenders;
  const shared = { ...options, ttl: TTL, wait: 15_000, outageTimeout: 15_000, commandTimeout: 300 };
  const faults: readonly ((random: SeededRandom) => Promise<unknown>)[] = [
    async (random) => {
      const server = random.pick(atLeastOne(servers));
      server.freeze();
      await sleep(random.between(10, LONGEST));
      server.thaw();
    },
    (random) => random.pick(atLeastOne(servers)).client().call('CLIENT', 'KILL', 'TYPE', 'normal'),
    (random) => random.pick(atLeastOne(servers)).client().call('CLIENT', 'KILL', 'TYPE', 'pubsub'),
    (random) => random.pick(atLeastOne(servers)).client().script('FLUSH'),
    (random) => random.pick(atLeastOne(workers)).call('block', random.between(10, LONGEST)),
    async (random) => {
      const worker = random.pick(atLeastOne(workers));
      worker.freeze();
      await sleep(random.between(10, LONGEST));
      worker.thaw();
    },
  ];
  return {
    workers,
    operator: services.open({ ...shared, commandTimeout: 5_000 }),
    hasOrder,
    open: () => contenders.open(() => shared),
    async breakFor(duration, random) {
      const end = performance.now() + duration;
      let count = 0;
      for (; performance.now() < end; count++) {
        // A connection may be the one that a fault has just closed.
        await random
          .pick(atLeastOne(faults))(random)
          .catch(() => undefined);
        await sleep(random.between(0, 400));
      }
      return count;
    },
    async close() {
      const { holds, refused, problems } = await contenders.stop();
      return {
        holds,
        refused,
        problems: [
          ...problems,
          ...overlaps(holds, [], TTL),
          ...fencedOffHolders(holds, [], TTL),
          ...lateAborts(holds),
          ...fallingTokens(holds),
        ],
      };
    },
    async [Symbol.asyncDispose]() {
      await services[Symbol.asyncDispose]();
      await contenders[Symbol.asyncDispose]();
      await topology[Symbol.asyncDispose]();
    },
  };
}

function atLeastOne<T>([first, ...others]: readonly T[]): readonly [T, ...T[]] {
  if (first === undefined) throw new Error('There is none to choose from.');
  return [first, ...others];
}
