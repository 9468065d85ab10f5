import { createLockService } from '../../../dist/cjs/lock-service.factory.js';
import { resolveModuleOptions } from '../../../dist/cjs/options/module-options.js';
import { type ContestantDefinition, nodesOf } from '../contestant.js';
import { LEASE, WAIT } from './common-settings.js';

/** This package, built. */
export const contestant: ContestantDefinition = {
  id: 'ours',
  kind: 'ours',
  settings: `defaults (ttl 30 s, renewed), wait ${WAIT / 1_000} s; acquire and release`,
  sends: ['evalsha', 'eval'],
  async open(redis, ttl = LEASE) {
    const [first, ...others] = nodesOf(redis).map(({ host, port }) => ({ host, port }));
    const connection = others.length > 0 ? [{ ...first }, ...others] : { ...first };
    const locks = createLockService(resolveModuleOptions({ connection, ttl, wait: WAIT }));
    return {
      async hold(name, work) {
        const lock = await locks.acquire(name);
        try {
          await work();
        } finally {
          await lock.release();
        }
      },
      close: () => locks.close(),
    };
  },
};
