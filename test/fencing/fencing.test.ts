import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { MikroORM } from '@mikro-orm/postgresql';
import { PrismaPg } from '@prisma/adapter-pg';
import { drizzle } from 'drizzle-orm/node-postgres';
import { knex } from 'knex';
import { createConnection } from 'mongoose';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { PrismaClient } from './generated/client.js';
import * as drizzleWrite from './writes/drizzle.js';
import * as knexWrite from './writes/knex.js';
import * as mikroWrite from './writes/mikro-orm.js';
import * as mongooseWrite from './writes/mongoose.js';
import * as plainWrite from './writes/plain-sql.js';
import * as prismaWrite from './writes/prisma.js';
import { StaleTokenError } from './writes/stale-token.error.js';
import * as typeormWrite from './writes/typeorm.js';

/** A write of the account `a`. */
type Write = (balance: number, token: number) => Promise<void>;

interface Library {
  readonly name: string;
  /** Opens a client, passes the write to `use`, and closes the client. */
  with(use: (write: Write) => Promise<void>): Promise<void>;
}

/** Tokens of real size, beyond 32 bits: microseconds since 1970. */
const FIRST = 1_795_530_000_000_000;

const postgres = new PGlite();
// Its default, one connection, would refuse a client until the connection of the previous client has ended.
const server = new PGLiteSocketServer({ db: postgres, host: '127.0.0.1', port: 0, maxConnections: 4 });
let connectionString: string;

before(async () => {
  const listening = new Promise<string>((resolve) => {
    server.addEventListener('listening', (event) => {
      const { port } = (event as CustomEvent<{ port: number }>).detail;
      resolve(`postgres://postgres@127.0.0.1:${port}/postgres?sslmode=disable`);
    });
  });
  await server.start();
  connectionString = await listening;
  await postgres.exec(
    'CREATE TABLE accounts (id text PRIMARY KEY, balance integer NOT NULL, fencing_token bigint NOT NULL DEFAULT 0)',
  );
});

after(async () => {
  await server.stop();
  await postgres.close();
});

const libraries: readonly Library[] = [
  {
    name: 'plain SQL',
    async with(use) {
      const pool = new Pool({ connectionString, max: 1 });
      await use((balance, token) => plainWrite.writeBalance(pool, 'a', balance, token));
      await pool.end();
    },
  },
  {
    name: 'Knex',
    async with(use) {
      const client = knex({ client: 'pg', connection: connectionString, pool: { min: 0, max: 1 } });
      await use((balance, token) => knexWrite.writeBalance(client, 'a', balance, token));
      await client.destroy();
    },
  },
  {
    name: 'TypeORM',
    async with(use) {
      const source = new DataSource({
        type: 'postgres',
        url: connectionString,
        poolSize: 1,
        entities: [typeormWrite.AccountEntity],
      });
      await source.initialize();
      const accounts = source.getRepository(typeormWrite.AccountEntity);
      await use((balance, token) => typeormWrite.writeBalance(accounts, 'a', balance, token));
      await source.destroy();
    },
  },
  {
    name: 'Prisma',
    async with(use) {
      const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString, max: 1 }) });
      await use((balance, token) => prismaWrite.writeBalance(prisma, 'a', balance, token));
      await prisma.$disconnect();
    },
  },
  {
    name: 'Drizzle',
    async with(use) {
      const pool = new Pool({ connectionString, max: 1 });
      const database = drizzle(pool);
      await use((balance, token) => drizzleWrite.writeBalance(database, 'a', balance, token));
      await pool.end();
    },
  },
  {
    name: 'MikroORM',
    async with(use) {
      const orm = await MikroORM.init({
        clientUrl: connectionString,
        entities: [mikroWrite.AccountEntity],
        pool: { min: 0, max: 1 },
        discovery: { disableDynamicFileAccess: true },
      });
      await use((balance, token) => mikroWrite.writeBalance(orm.em.fork(), 'a', balance, token));
      await orm.close();
    },
  },
];

for (const library of libraries) {
  void it(`${library.name} refuses the write of an earlier holder, and keeps the row of the later one`, async () => {
    await postgres.exec(`DELETE FROM accounts; INSERT INTO accounts (id, balance) VALUES ('a', 100)`);
    const row = async (): Promise<unknown> => (await postgres.query('SELECT * FROM accounts')).rows[0];
    await library.with(async (write) => {
      await write(110, FIRST);
      await write(120, FIRST);
      await write(150, FIRST + 1);
      await assert.rejects(write(130, FIRST), StaleTokenError);
      assert.deepEqual(await row(), { id: 'a', balance: 150, fencing_token: FIRST + 1 });
      await write(160, FIRST + 1);
      assert.deepEqual(await row(), { id: 'a', balance: 160, fencing_token: FIRST + 1 });
    });
  });
}

void describe('Mongoose', () => {
  void it('sends the token as a condition and as data, and refuses a write that matches nothing', async () => {
    const connection = createConnection();
    const accounts = connection.model('Account', mongooseWrite.accountSchema);
    const sent: unknown[] = [];
    let matchedCount = 1;
    // Stands for a server: keeps what Mongoose, after its casts, passes to the driver.
    accounts.collection.updateOne = async (...update: readonly unknown[]) => {
      sent.push(update.slice(0, 2));
      return {
        acknowledged: true,
        matchedCount,
        modifiedCount: matchedCount,
        upsertedCount: 0,
        upsertedId: null,
      };
    };
    await mongooseWrite.writeBalance(accounts, 'a', 150, FIRST);
    assert.deepEqual(sent, [
      [{ _id: 'a', fencingToken: { $lte: FIRST } }, { $set: { balance: 150, fencingToken: FIRST } }],
    ]);
    matchedCount = 0;
    await assert.rejects(mongooseWrite.writeBalance(accounts, 'a', 150, FIRST), StaleTokenError);
    await connection.close();
  });
});
