import type { Knex } from 'knex';
import type { JobName } from '../jobs/job-name.js';

export const RUNS = 'cron_replicas_runs';

/** A row for each run of a job. */
export interface RunRow {
  readonly id: string;
  readonly job: JobName;
  /** The second that the job ran for, by the clock of its process. */
  readonly tick: number;
  readonly instance: string;
  /** Milliseconds since 1970, by the machine's clock. */
  readonly started: number;
  /** Likewise; null while the work goes on, and for ever if its process died. */
  readonly ended: number | null;
}

declare module 'knex/types/tables.js' {
  interface Tables {
    cron_replicas_runs: RunRow;
  }
}

/** Creates the table where it is missing, and empties it. */
export async function createTables(knex: Knex): Promise<void> {
  if (!(await knex.schema.hasTable(RUNS))) {
    await knex.schema.createTable(RUNS, (table) => {
      table.uuid('id').primary();
      table.string('job', 64).notNullable();
      table.integer('tick').notNullable();
      table.string('instance', 64).notNullable();
      table.double('started').notNullable();
      table.double('ended');
    });
  }
  await knex(RUNS).delete();
}
