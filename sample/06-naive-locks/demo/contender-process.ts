import { extname, join } from 'node:path';
import { WorkerProcess } from '../../support/worker-process.js';
import type { Contender } from '../contender/contender.js';

const MAIN = join(__dirname, '..', `main${extname(__filename)}`);

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
    super(MAIN, { env, signal, notices: {} });
  }
}
