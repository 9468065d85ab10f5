import { join } from 'node:path';
import { Instances } from '../../support/instances.js';
import { startTogether } from '../../support/start-together.js';
import type { ImportedRow } from '../worker/imported-row.interface.js';
import { ImportedRows } from '../worker/imported-rows.js';
import { writeRows } from './files.js';
import { ImportsClient } from './imports-client.js';

const WORKERS = 3;
const HERE = join(__dirname, '..');

/** Where imports happen: the API, the workers, and what they leave behind. */
export class Scene implements AsyncDisposable {
  readonly client: ImportsClient;
  readonly url: string;

  private constructor(
    private readonly directory: string,
    private readonly api: Instances,
    private readonly workers: Instances,
  ) {
    [this.url = ''] = api.urls;
    this.client = new ImportsClient(this.url);
  }

  /** Starts one process with the API and three with a worker each. */
  static async start(
    env: NodeJS.ProcessEnv & { IMPORT_DIRECTORY: string },
    signal: AbortSignal,
  ): Promise<Scene> {
    const instances = (part: string, count: number): Promise<Instances> =>
      Instances.start({
        main: join(HERE, part, 'main'),
        environments: Array.from({ length: count }, () => env),
        signal,
      });
    const [api, workers] = await startTogether([instances('api', 1), instances('worker', WORKERS)]);
    return new Scene(env.IMPORT_DIRECTORY, api, workers);
  }

  /** Process ids of the workers. */
  get pids(): number[] {
    return this.workers.urls.map(Number);
  }

  async write(what: string, rows: number): Promise<string> {
    return writeRows(this.directory, what, rows);
  }

  async imported(file: string): Promise<ImportedRow[]> {
    return new ImportedRows(this.directory).read(file);
  }

  /** Kills the process that wrote a row. */
  kill({ worker }: ImportedRow): void {
    this.workers.kill(this.pids.indexOf(worker));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.api, this.workers].map((each) => each[Symbol.asyncDispose]()));
  }
}
