declare module 'knex/lib/dialects/better-sqlite3/index.js' {
  import { Knex } from 'knex';

  /** Part of knex, but not of its types. */
  export default class BetterSqlite3Client extends Knex.Client {
    override connectionSettings: { filename: string };
    _driver(): unknown;
  }
}
