import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { WorkerProcess } from '../../support/worker-process.js';
import type { DepositCalls, DepositNotices } from './deposit-calls.js';

const MAIN = join(__dirname, '..', 'main');

/** A process that books deposits, and freezes when it is told to. */
export class DepositWorker extends WorkerProcess<DepositCalls, DepositNotices> {
  private readonly notices: EventEmitter;

  constructor(env: NodeJS.ProcessEnv, signal: AbortSignal) {
    const notices = new EventEmitter();
    super({
      main: MAIN,
      env,
      signal,
      notices: {
        granted: (token) => void notices.emit('granted', token),
        frozen: () => void notices.emit('frozen'),
      },
    });
    this.notices = notices;
  }

  /** Resolves to the fencing token of its next hold. */
  async granted(): Promise<number> {
    const [token] = await once(this.notices, 'granted');
    return token;
  }

  /** Resolves when it freezes. */
  async frozen(): Promise<void> {
    await once(this.notices, 'frozen');
  }
}
