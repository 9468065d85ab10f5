import type { Database } from '../../support/database/database.js';
import { createTables, RUNS } from '../database/tables.js';
import type { JobName } from '../jobs/job-name.js';

/** One run of a job. */
export interface Run {
  readonly job: JobName;
  readonly tick: number;
  readonly instance: string;
  /** Milliseconds from the beginning of the tick by the machine's clock. */
  readonly at: number;
  readonly done: boolean;
}

/** What the jobs left in the database. */
export class RunLog {
  private constructor(private readonly database: Database) {}

  static async open(database: Database): Promise<RunLog> {
    await createTables(database.knex);
    return new RunLog(database);
  }

  /** The runs for this tick and later ones, in the order in which they began. */
  async since(tick: number): Promise<Run[]> {
    const rows = await this.database.knex(RUNS).where('tick', '>=', tick).orderBy('started');
    return rows.map(({ job, tick: of, instance, started, done }) => ({
      job,
      tick: of,
      instance,
      at: Math.round(started - of * 1_000),
      done: Boolean(done),
    }));
  }
}
