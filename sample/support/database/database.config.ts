import { fileURLToPath } from 'node:url';
import type { Knex } from 'knex';
import { LibsqlClient } from './libsql.client.js';

/**
 * The database that a URL names.
 *
 * @param url - `postgres://user:password@host/database`, or `file:///path` for SQLite.
 */
export function databaseConfig(url: string | undefined): Knex.Config {
  if (url?.startsWith('file:')) {
    return { client: LibsqlClient, connection: { filename: fileURLToPath(url) }, useNullAsDefault: true };
  }
  if (url?.startsWith('postgres:') || url?.startsWith('postgresql:')) {
    return { client: 'pg', connection: url };
  }
  throw new Error('Set DATABASE_URL to postgres://user:password@host/database or to file:///path (SQLite)');
}
