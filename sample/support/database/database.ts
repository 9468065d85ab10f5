import type { OnApplicationShutdown } from '@nestjs/common';
import { knex } from 'knex';
import { databaseConfig } from './database.config.js';

/** The SQL database that all instances share. */
export class Database implements OnApplicationShutdown, AsyncDisposable {
  readonly knex;

  constructor(url: string | undefined) {
    this.knex = knex(databaseConfig(url));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.knex.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.knex.destroy();
  }
}
