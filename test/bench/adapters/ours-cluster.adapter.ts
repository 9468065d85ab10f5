import { createLockService } from '../../../dist/cjs/lock-service.factory.js';
import { resolveModuleOptions } from '../../../dist/cjs/options/module-options.js';
import type { ContestantDefinition } from '../contestant.js';
import { LEASE, WAIT } from './common-settings.js';

/** This package on a Redis Cluster, of which it is given one node. */
export const contestant: ContestantDefinition = {
  id: 'ours-cluster',
  kind: 'ours',
  settings: 'as ours, on a Redis Cluster',
  sends: ['evalsha', 'eval'],
  async open(node, ttl = LEASE) {
    const connection = { nodes: [{ ...node }] };
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
