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
  /** Likewise; undefined while the work is not done. */
  readonly ended: number | undefined;
}

/** What the jobs left in the database. */
export class RunLog {
  private constructor(private readonly database: Database) {}

  static async open(database: Database): Promise<RunLog> {
    await createTables(database.knex);
    return new RunLog(database);
  }

  /** The runs for this tick and later ones, in the order in which they began. */
  async since(first: number): Promise<Run[]> {
    const rows = await this.database.knex(RUNS).where('tick', '>=', first).orderBy('started');
    return rows.map(({ job, tick, instance, started, ended }) => {
      const at = (time: number): number => Math.round(time - tick * 1_000);
      return { job, tick, instance, at: at(started), ended: ended === null ? undefined : at(ended) };
    });
  }
}
