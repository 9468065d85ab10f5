import { TOPOLOGIES, type Topology } from '../contender/topology.js';
import { longestGap } from './hold-statistics.js';
import type { Scene } from './scene.js';
import type { Timeline } from './timeline.js';

/** Grants of each contender to wait for, to see that it can have locks: one reconnects sooner than the other. */
const SOME = 6;

/** Kills servers and lets them come back, while processes take both locks again and again. */
export async function playAvailability(scene: Scene, timeline: Timeline): Promise<void> {
  const { sentinel, quorum, contenders, journal } = scene;
  await contenders.startRush();
  timeline.add('all servers are up');
  await granted(scene, TOPOLOGIES);

  const [first] = await timeline.bringAbout("Sentinel's master killed; quorum: 1 of 5 killed", () =>
    Promise.all([sentinel.killMaster(), quorum.kill(1)]),
  );
  timeline.add('a replica is master', await journal.recovered('sentinel'));
  await granted(scene, TOPOLOGIES);

  await timeline.bringAbout('the old master is back as a replica; quorum: 2 of 5 down', () =>
    Promise.all([sentinel.comeBack(first), quorum.kill(2)]),
  );
  await granted(scene, TOPOLOGIES);

  await timeline.bringAbout('quorum: 3 of 5 down', () => quorum.kill(3));
  await Promise.all([journal.refused('quorum', 4), granted(scene, ['sentinel'])]);

  await timeline.bringAbout('quorum: the third is back with its data', () => quorum.comeBack(3));
  await granted(scene, TOPOLOGIES);

  await Promise.all([quorum.comeBack(1, 2), sentinel.settled()]);
  timeline.add('all servers are up again');
  await granted(scene, TOPOLOGIES);
  await contenders.endRush();
}

/** The longest time without a grant, from the first grant to the last one. */
export function longestOutage({ journal }: Scene, topology: Topology): number {
  const holds = journal.holdsOf(topology);
  return longestGap(holds, { from: holds.at(0)?.at ?? 0, to: holds.at(-1)?.at ?? 0 });
}

async function granted({ journal, contenders }: Scene, topologies: readonly Topology[]): Promise<void> {
  const each = contenders.pids.keys();
  const waits = [...each].flatMap((contender) =>
    topologies.map((topology) => journal.granted(topology, contender, SOME)),
  );
  await Promise.all(waits);
}
