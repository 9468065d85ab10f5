import { join } from 'node:path';
import { WorkerProcess } from '../../support/worker-process.js';
import type { Contender } from '../contender/contender.js';

const MAIN = join(__dirname, '..', 'main');

/** What a contender can be told. */
export interface ContenderCalls extends Pick<
  Contender,
  'tryAcquire' | 'tryAcquireWithOneCommand' | 'believesToHold' | 'release'
> {
  /** Answered as soon as the process is up. */
  ready(): void;
}

/** A contender in a process of its own. */
export class ContenderProcess extends WorkerProcess<ContenderCalls> {
  constructor(env: NodeJS.ProcessEnv, signal: AbortSignal) {
    super({ main: MAIN, env, signal, notices: {} });
  }
}
