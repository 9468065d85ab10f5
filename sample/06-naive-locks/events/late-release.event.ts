import { setTimeout as delay } from 'node:timers/promises';
import type { ScriptedEvent } from './scripted-event.js';
import { LOCK_KINDS } from '../locks/lock-kind.js';

export const lateRelease: ScriptedEvent = {
  title: 'frozen for two leases, then released',
  survival: 'stays with its holder',
  failure: "next one's lock removed",

  async play(stage) {
    const { holder, next, third, lease } = stage;
    await stage.acquireAll();
    holder.freeze();
    await delay(2 * lease);

    const leasesBegin = performance.now();
    const takenOver = await stage.tryAcquire(next, LOCK_KINDS);
    await stage.stuck(takenOver);
    holder.wakeUp();
    await stage.releaseAll(holder);
    const intruded = await stage.tryAcquire(third, takenOver);
    if (performance.now() - leasesBegin >= lease) {
      throw new Error('Too slow to tell a removed lock from one whose lease was over: try a longer --lease');
    }
    return intruded;
  },
};
