import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Database } from '../../support/database/database.js';
import { INSTANCES } from '../database/tables.js';
import { INSTANCE_NAME } from './instance-name.js';

/** An instance that serves. */
export interface Instance {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
}

/** The instances of this shop, as they registered themselves in the database. */
@Injectable()
export class InstanceDirectory implements BeforeApplicationShutdown {
  constructor(private readonly database: Database) {}

  /** @param url - Where this instance serves. */
  async register(url: string): Promise<void> {
    await this.database
      .knex(INSTANCES)
      .insert({ name: INSTANCE_NAME, url, pid: process.pid })
      .onConflict('name')
      .merge();
  }

  async all(): Promise<Instance[]> {
    return this.database.knex(INSTANCES).select('name', 'url', 'pid').orderBy('name');
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.database.knex(INSTANCES).where({ name: INSTANCE_NAME, pid: process.pid }).delete();
  }
}
