import { join } from 'node:path';
import { WorkerProcess } from '../../support/worker-process.js';
import type { ServerAddresses } from '../contender/connections.js';
import type { ContenderCalls } from '../contender/contender-calls.interface.js';
import type { Notices } from '../contender/notices.interface.js';
import type { Journal } from './journal.js';

const MAIN = join(__dirname, '..', 'contender', 'main');

type ContenderProcess = WorkerProcess<ContenderCalls, Notices>;

/** What contenders need. */
export interface ContendersOptions {
  readonly servers: ServerAddresses;
  readonly databaseUrl: string;
  readonly journal: Journal;
  readonly signal: AbortSignal;
}

/** The two processes that want the locks. */
export class Contenders implements AsyncDisposable {
  private constructor(
    private readonly processes: readonly ContenderProcess[],
    readonly first: ContenderProcess['calls'],
    readonly second: ContenderProcess['calls'],
  ) {}

  static async start({ servers, databaseUrl, journal, signal }: ContendersOptions): Promise<Contenders> {
    const env = { DATABASE_URL: databaseUrl, SERVERS: JSON.stringify(servers) };
    const start = (index: number): ContenderProcess =>
      new WorkerProcess({ main: MAIN, env, signal, notices: journal.noticesOf(index) });
    const [first, second] = [start(0), start(1)];
    const contenders = new Contenders([first, second], first.calls, second.calls);
    try {
      await Promise.all(contenders.processes.map(({ calls }) => calls.ready()));
      return contenders;
    } catch (error) {
      await contenders[Symbol.asyncDispose]();
      throw error;
    }
  }

  get pids(): (number | undefined)[] {
    return this.processes.map(({ pid }) => pid);
  }

  /** Lets both take the locks again and again. */
  async startRush(): Promise<void> {
    await Promise.all(this.processes.map(({ calls }) => calls.startRush()));
  }

  async endRush(): Promise<void> {
    await Promise.all(this.processes.map(({ calls }) => calls.endRush()));
  }

  /** They have nothing to give back: their servers end with them. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.processes.map((each) => each.kill()));
  }
}
