import type { Ended } from '../contender/notices.interface.js';
import { type PerTopology, TOPOLOGIES } from '../contender/topology.js';
import type { Scene } from './scene.js';
import type { Timeline } from './timeline.js';

/** What became of two holders when the servers that granted to the first one were killed. */
export interface LostGrant {
  /** What an acquire that asks for a replica came to, while there is none that follows. */
  readonly withReplica: string;
  /** Fencing tokens of the first and the second holder. */
  readonly tokens: PerTopology<readonly number[]>;
  /** Why the first holder ended. */
  readonly firstEnded: PerTopology<Ended['why'] | undefined>;
}

/**
 * A process holds both locks. Sentinel's replicas miss that, and its master and two servers of the quorum are killed,
 * while another process waits for both locks.
 */
export async function playLostGrant(scene: Scene, timeline: Timeline): Promise<LostGrant> {
  const { sentinel, quorum, contenders, journal } = scene;
  const { first, second } = contenders;
  await sentinel.cutOffReplicas();
  timeline.add("Sentinel's replicas hear of no more writes");
  const withReplica = await second.tryWithReplica();
  await Promise.all(TOPOLOGIES.map((topology) => first.startWork(topology)));
  await first.cut();
  const waiting = { sentinel: second.startWork('sentinel'), quorum: second.startWork('quorum') };
  // Not yet awaited, and the run may be interrupted by then.
  waiting.quorum.catch(() => {});
  timeline.add('A holds both locks, B waits for them');

  await timeline.bringAbout("Sentinel's master killed; quorum: 2 of 5 killed", () =>
    Promise.all([sentinel.killMaster(), quorum.kill(1, 2)]),
  );
  await waiting.sentinel;
  timeline.add('a replica that knows of no hold is master', journal.holdsOf('sentinel').at(-1)?.at);
  const fenced = await first.untilWorkEnds('sentinel');
  const released = await first.endWork('quorum');
  timeline.add("A's write was refused by its token; A releases the quorum's lock", journal.endOf('quorum'));
  await waiting.quorum;
  await Promise.all(TOPOLOGIES.map((topology) => second.endWork(topology)));
  timeline.add('the end');
  return {
    withReplica,
    tokens: { sentinel: lastTwo(scene, 'sentinel'), quorum: lastTwo(scene, 'quorum') },
    firstEnded: { sentinel: fenced, quorum: released },
  };
}

function lastTwo({ journal }: Scene, topology: keyof PerTopology<unknown>): readonly number[] {
  return journal
    .holdsOf(topology)
    .slice(-2)
    .map(({ token }) => token);
}
