import { Mutex } from 'async-mutex';
import type { ContestantDefinition } from '../contestant.js';

export const contestant: ContestantDefinition = {
  id: 'async-mutex',
  package: 'async-mutex',
  kind: 'local',
  settings: 'a Mutex in memory, which excludes within one process only; acquire and release',
  sends: [],
  async open() {
    const mutexes = new Map<string, Mutex>();
    function mutexOf(name: string): Mutex {
      const known = mutexes.get(name);
      if (known) return known;
      const mutex = new Mutex();
      mutexes.set(name, mutex);
      return mutex;
    }
    return {
      async hold(name, work) {
        const release = await mutexOf(name).acquire();
        try {
          await work();
        } finally {
          release();
        }
      },
      close: () => {},
    };
  },
};
