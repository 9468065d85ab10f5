import BetterSqlite3Client from 'knex/lib/dialects/better-sqlite3/index.js';
import Libsql from 'libsql';

const BUSY_TIMEOUT = 5_000;

/**
 * Knex's dialect for better-sqlite3 on libsql, which has the same interface and brings its binary along.
 *
 * Several processes may open one file: readers do not block the writer, and a second writer waits.
 */
export class LibsqlClient extends BetterSqlite3Client {
  override _driver(): typeof Libsql {
    return Libsql;
  }

  override async acquireRawConnection(): Promise<Libsql.Database> {
    const { filename } = this.connectionSettings;
    const connection = new Libsql(filename, { timeout: BUSY_TIMEOUT });
    connection.pragma('journal_mode = WAL');
    connection.pragma('synchronous = NORMAL');
    return connection;
  }
}
