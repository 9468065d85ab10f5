import { Client } from 'pg';

/** The server that the runner started for the scenarios with a database. */
export const POSTGRES_URL = process.env['POSTGRES_URL'] ?? '';

/** A table with one row, in a schema of its own. */
export class StockTable {
  private constructor(
    readonly schema: string,
    private readonly client: Client,
  ) {}

  /** Creates the table. Each commit of a transaction that wrote it takes 10 ms longer. */
  static async create(schema: string): Promise<StockTable> {
    const client = new Client({ connectionString: POSTGRES_URL });
    await client.connect();
    await client.query(`
      CREATE SCHEMA ${schema};
      CREATE TABLE ${schema}.stock (id integer PRIMARY KEY, sold integer NOT NULL);
      INSERT INTO ${schema}.stock VALUES (1, 0);
      CREATE FUNCTION ${schema}.sleep() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN PERFORM pg_sleep(0.01); RETURN NULL; END';
      CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON ${schema}.stock
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ${schema}.sleep();`);
    return new StockTable(schema, client);
  }

  /** What other transactions read. */
  async sold(): Promise<number> {
    const { rows } = await this.client.query<{ sold: number }>(`SELECT sold FROM ${this.schema}.stock`);
    return rows[0]?.sold ?? Number.NaN;
  }

  async drop(): Promise<void> {
    await this.client.query(`DROP SCHEMA ${this.schema} CASCADE`);
    await this.client.end();
  }
}
