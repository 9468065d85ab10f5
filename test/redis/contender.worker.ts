import type { Lock } from '../../lib/engine/hold/lock.interface.js';
import type { LockOptions } from '../../lib/options/lock-options.interface.js';
import { serveCalls, tell } from '../support/serve-calls.js';
import { Instance } from './instance.js';

const [connection = ''] = process.argv.slice(2);
const instance = new Instance({ connection });
let hold: Lock | undefined;

/** What the starting process is told of each grant. */
export interface Granted {
  readonly token: number;
  /** Whether the process could still rely on it when it learnt of it. */
  readonly held: boolean;
}

const calls = {
  async start(): Promise<string> {
    await instance.warmUp();
    return instance.name;
  },
  async acquire(name: string, options: LockOptions): Promise<Granted> {
    hold = await instance.locks.acquire(name, options);
    return { token: hold.fencingToken, held: hold.held };
  },
  /** Does not wait for the grant, but tells of it. */
  contend(name: string, options: LockOptions): void {
    void instance.locks.acquire(name, options).then((lock) => {
      hold = lock;
      tell({ token: lock.fencingToken, held: lock.held } satisfies Granted);
    });
  },
  async release(): Promise<void> {
    await hold?.release();
  },
};

export type ContenderCalls = typeof calls;

serveCalls(calls);
