import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Knex } from 'knex';
import { fencedRead } from '../../sample/04-fenced-writes/fencing/fenced-read.js';
import { fencedUpdate } from '../../sample/04-fenced-writes/fencing/fenced-update.js';
import { fencedUpsert } from '../../sample/04-fenced-writes/fencing/fenced-upsert.js';
import { StaleTokenError } from '../../sample/04-fenced-writes/fencing/stale-token.error.js';
import { Database } from '../../sample/support/database/database.js';

const TABLE = 'fenced_test';
const EARLIER = 1_790_000_000_000_000;
const LATER = EARLIER + 1;

const postgres = process.env.DATABASE_URL?.startsWith('postgres') ? process.env.DATABASE_URL : undefined;

describe.each(postgres === undefined ? ['SQLite'] : ['SQLite', 'PostgreSQL'])('Fencing on %s', (name) => {
  let directory: string;
  let database: Database;
  let knex: Knex;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'fencing-'));
    database = new Database(
      name === 'SQLite' ? pathToFileURL(join(directory, 'fenced.sqlite')).href : postgres,
    );
    knex = database.knex;
  });
  afterAll(async () => {
    await knex.schema.dropTableIfExists(TABLE);
    await database.onApplicationShutdown();
    await rm(directory, { recursive: true });
  });
  beforeEach(async () => {
    await knex.schema.dropTableIfExists(TABLE);
    await knex.schema.createTable(TABLE, (table) => {
      table.string('id').primary();
      table.integer('pieces').notNullable();
      table.bigInteger('fencing_token').notNullable().defaultTo(0);
    });
    await knex(TABLE).insert({ id: 'book', pieces: 1 });
  });

  const row = (id = 'book'): Knex.QueryBuilder => knex(TABLE).where({ id });
  const pieces = async (id = 'book'): Promise<unknown> => (await row(id).first('pieces'))?.pieces;
  const upsert = (values: object, token: number): Promise<void> =>
    fencedUpsert(knex, { table: TABLE, key: 'id', values }, token);

  it('takes several reads and writes of one hold', async () => {
    expect(await fencedRead(row(), EARLIER)).toMatchObject({ id: 'book', pieces: 1 });
    await fencedUpdate(row(), { pieces: 2 }, EARLIER);
    await fencedUpdate(row(), { pieces: 3 }, EARLIER);
    await upsert({ id: 'book', pieces: 4 }, EARLIER);
    expect(await fencedRead(row(), EARLIER)).toMatchObject({ pieces: 4 });
  });

  it('takes the writes of a later holder', async () => {
    await fencedUpdate(row(), { pieces: 2 }, EARLIER);
    await fencedUpdate(row(), { pieces: 3 }, LATER);
    expect(await pieces()).toBe(3);
  });

  it('refuses an earlier holder after a later one has written', async () => {
    await fencedUpdate(row(), { pieces: 2 }, LATER);
    await expect(fencedRead(row(), EARLIER)).rejects.toThrow(StaleTokenError);
    await expect(fencedUpdate(row(), { pieces: 3 }, EARLIER)).rejects.toThrow(StaleTokenError);
    await expect(upsert({ id: 'book', pieces: 3 }, EARLIER)).rejects.toThrow(StaleTokenError);
    expect(await pieces()).toBe(2);
  });

  it('refuses an earlier holder as soon as a later one has read', async () => {
    await fencedRead(row(), EARLIER);
    await fencedRead(row(), LATER);
    await expect(fencedUpdate(row(), { pieces: 2 }, EARLIER)).rejects.toThrow(StaleTokenError);
    await fencedUpdate(row(), { pieces: 3 }, LATER);
    expect(await pieces()).toBe(3);
  });

  it('inserts a row that is not there, and updates it for later holders only', async () => {
    await upsert({ id: 'pen', pieces: 1 }, LATER);
    await expect(upsert({ id: 'pen', pieces: 2 }, EARLIER)).rejects.toThrow(StaleTokenError);
    expect(await pieces('pen')).toBe(1);
    await upsert({ id: 'pen', pieces: 3 }, LATER + 1);
    expect(await pieces('pen')).toBe(3);
  });

  it('touches no other row', async () => {
    await knex(TABLE).insert({ id: 'pen', pieces: 7 });
    await fencedUpdate(row(), { pieces: 2 }, LATER);
    await upsert({ id: 'book', pieces: 3 }, LATER);
    await fencedUpdate(row('pen'), { pieces: 8 }, EARLIER);
    expect(await pieces('pen')).toBe(8);
  });
});
