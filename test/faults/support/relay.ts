import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultScene } from './fault-scene.js';
import type { SeededRandom } from './seeded-random.js';

/** What came of a relay. */
interface RelayReport {
  /** How often a hold went from one process to another. */
  readonly hops: number;
  /** Sentences about what must never happen and did. */
  readonly problems: readonly string[];
}

/** Acquires a lock in one process after the other, and hands each hold on a few times, until told to stop. */
export async function runRelay(
  scene: FaultScene,
  runner: number,
  {
    name,
    random,
    stop,
  }: { readonly name: string; readonly random: SeededRandom; readonly stop: AbortSignal },
): Promise<RelayReport> {
  const problems: string[] = [];
  let hops = 0;
  const [first, ...others] = scene.contenders.map(({ worker }) => worker);
  if (!first) throw new Error('Start the scene with at least one process');
  /** Resolves to whoever has it in the end. */
  const passOn = async (id: string, from: typeof first): Promise<typeof first | undefined> => {
    await sleep(random.between(0, 60));
    const detached = await from.call('detachPassed', id);
    if ('code' in detached) return undefined;
    // Two want it, one may have it.
    const takers = [random.pick([first, ...others]), random.pick([first, ...others])];
    const outcomes = await Promise.all(
      takers.map((taker) => taker.call('attachPassed', id, name, detached.result)),
    );
    const taken = takers.filter((_, i) => 'result' in (outcomes[i] ?? {}));
    if (taken.length > 1) problems.push(`${id} was taken twice`);
    if (taken.length > 0) hops += 1;
    return taken[0];
  };
  for (let hold = 1; !stop.aborted; hold += 1) {
    const id = `relay${runner}/${hold}`;
    const starter = random.pick([first, ...others]);
    if ('code' in (await starter.call('acquirePassed', id, name))) continue;
    let holder: typeof first | undefined = starter;
    for (let hop = 0; hop < 3 && holder; hop += 1) holder = await passOn(id, holder);
    await scene.everyone(({ worker }) => worker.call('releasePassed', id));
  }
  return { hops, problems };
}
