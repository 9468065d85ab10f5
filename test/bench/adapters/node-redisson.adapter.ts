import { Redisson } from 'node-redisson';
import type { ContestantDefinition } from '../contestant.js';
import { LEASE } from './common-settings.js';

export const contestant: ContestantDefinition = {
  id: 'node-redisson',
  package: 'node-redisson',
  kind: 'peer',
  settings:
    'defaults (watchdog 30 s, pub/sub), one lock object a hold; lock() and unlock(), which waits without limit',
  // Unlocking deletes the lock in a script, and the latch of the unlocking by a command.
  sendsAndCalls: ['del'],
  sends: ['evalsha', 'eval', 'del', 'subscribe', 'unsubscribe'],
  async open(redis, lease = LEASE) {
    const redisson = new Redisson({
      redis: { options: { ...redis } },
      lockWatchdogTimeout: BigInt(lease),
    });
    return {
      async hold(name, work) {
        const lock = redisson.getLock(name);
        await lock.lock();
        try {
          await work();
        } finally {
          await lock.unlock();
        }
      },
      // It has no way to close its connections; the load process ends them.
      close: () => {},
    };
  },
};
