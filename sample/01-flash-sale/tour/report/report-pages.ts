import { Injectable } from '@nestjs/common';
import { Database } from '../../../support/database/database.js';
import { REPORT } from '../../database/tables.js';
import type { ReportPage } from '../stage-picture.interface.js';

/** The pages of the report, in the database. */
@Injectable()
export class ReportPages {
  constructor(private readonly database: Database) {}

  async all(): Promise<ReportPage[]> {
    return this.database.knex(REPORT).select('page', 'worker').orderBy('page');
  }

  async add(page: ReportPage & { readonly token: number }): Promise<void> {
    await this.database.knex(REPORT).insert(page);
  }

  async clear(): Promise<void> {
    await this.database.knex(REPORT).delete();
  }
}
