import { setTimeout as sleep } from 'node:timers/promises';
import { acquireScript } from '../../../lib/store/scripts/acquire.script.js';
import { acquireSharedScript } from '../../../lib/store/scripts/acquire-shared.script.js';
import { cancelScript } from '../../../lib/store/scripts/cancel.script.js';
import { extendScript } from '../../../lib/store/scripts/extend.script.js';
import { transferScript } from '../../../lib/store/scripts/transfer.script.js';
import { releaseScript } from '../../../lib/store/scripts/release.script.js';
import { releaseByOwnerScript } from '../../../lib/store/scripts/release-by-owner.script.js';
import { yieldScript } from '../../../lib/store/scripts/yield.script.js';
import type { FaultScene } from './fault-scene.js';
import type { SeededRandom } from './seeded-random.js';
import { now } from './shared-clock.js';

/** Something that goes wrong, and is over when the promise settles. */
type Fault = (scene: FaultScene, random: SeededRandom, name: string) => Promise<unknown>;

const LONGEST = 1_500;

const KEEP_THE_DATA: Readonly<Record<string, Fault>> = {
  'SCRIPT FLUSH': (scene) => scene.admin.script('FLUSH'),
  'CLIENT KILL of commands': (scene) => scene.admin.call('CLIENT', 'KILL', 'TYPE', 'normal'),
  'CLIENT KILL of inboxes': (scene) => scene.admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub'),
  'CLIENT PAUSE': (scene, random) =>
    scene.admin.call('CLIENT', 'PAUSE', Math.round(random.between(10, LONGEST)), 'ALL'),
  'connections reset': (scene, random) => Promise.resolve(pick(scene, random).proxy.reset()),
  'reply lost': async (scene, random) => {
    const scripts = [
      acquireScript,
      acquireSharedScript,
      releaseScript,
      releaseByOwnerScript,
      yieldScript,
      extendScript,
      cancelScript,
      transferScript,
    ] as const;
    // It may be long until the next such request; other faults go on meanwhile.
    void pick(scene, random).proxy.loseNextReply(random.pick(scripts).sha);
    await sleep(random.between(10, 100));
  },
  'network silent': (scene, random) => badNetwork(scene, random, 'hold'),
  'network swallowing': (scene, random) => badNetwork(scene, random, 'drop'),
  'network slow': async (scene, random) => {
    const { proxy } = pick(scene, random);
    proxy.delay(random.between(5, 100), random.pick(['toServer', 'toClient', 'both']));
    await sleep(random.between(10, LONGEST));
    proxy.pass();
  },
  'Redis silent': async (scene, random) => {
    scene.server.freeze();
    await sleep(random.between(10, LONGEST));
    scene.server.thaw();
  },
  'Redis restarted': (scene) => scene.server.restart({ keepData: true }),
  'event loop blocked': (scene, random) =>
    pick(scene, random).worker.call('block', random.between(10, LONGEST)),
  'process stopped': async (scene, random) => {
    const { worker } = pick(scene, random);
    worker.freeze();
    await sleep(random.between(10, LONGEST));
    worker.thaw();
  },
};

const TAKE_THE_DATA: Readonly<Record<string, Fault>> = {
  FLUSHALL: (scene) => scene.losing(() => scene.admin.flushall()),
  'Redis restarted empty': (scene) => scene.losing(() => scene.server.restart({ keepData: false })),
  'key deleted': (scene, _random, name) => scene.losing(() => scene.admin.del(`lock:{${name}}`)),
  'key overwritten': (scene, random, name) =>
    scene.losing(() =>
      scene.admin.set(`lock:{${name}}`, 'foreign', 'PX', Math.round(random.between(1, 500))),
    ),
  'force-released': (scene, _random, name) => scene.losing(() => scene.operator.forceRelease(name)),
};

/** Faults one after the other for so many milliseconds; returns their names and times in order. */
export async function breakAtRandom(
  scene: FaultScene,
  random: SeededRandom,
  duration: number,
  { names, takeData }: { readonly names: readonly [string, ...string[]]; readonly takeData: boolean },
): Promise<string[]> {
  const faults = Object.entries(takeData ? { ...KEEP_THE_DATA, ...TAKE_THE_DATA } : KEEP_THE_DATA);
  const [first, ...others] = faults;
  if (!first) return [];
  const history: string[] = [];
  const end = now() + duration;
  while (now() < end) {
    const [title, fault] = random.pick([first, ...others]);
    const startedAt = now();
    await fault(scene, random, random.pick(names));
    history.push(`${title} from ${startedAt.toFixed(1)} to ${now().toFixed(1)}`);
    await sleep(random.between(0, 400));
  }
  return history;
}

async function badNetwork(scene: FaultScene, random: SeededRandom, how: 'hold' | 'drop'): Promise<void> {
  const { proxy } = pick(scene, random);
  proxy[how](random.pick(['toServer', 'toClient', 'both']));
  await sleep(random.between(10, LONGEST));
  proxy.pass();
}

function pick({ contenders }: FaultScene, random: SeededRandom): FaultScene['contenders'][number] {
  const [first, ...others] = contenders;
  if (!first) throw new Error('Start the scene with at least one process');
  return random.pick([first, ...others]);
}
