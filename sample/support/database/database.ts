import type { OnApplicationShutdown } from '@nestjs/common';
import { knex, type Knex } from 'knex';
import { databaseConfig } from './database.config.js';

/** The SQL database that all instances share. */
export class Database implements OnApplicationShutdown, AsyncDisposable {
  readonly knex;

  /** @param pool - Knex's own default is up to 10 connections, and a single one to SQLite. */
  constructor(url: string | undefined, pool?: Knex.PoolConfig) {
    this.knex = knex({ ...databaseConfig(url), ...(pool === undefined ? {} : { pool }) });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.knex.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.knex.destroy();
  }
}
