import { and, eq, lte } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import { bigint, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { StaleTokenError } from './stale-token.error.js';

const accounts = pgTable('accounts', {
  id: text().primaryKey(),
  balance: integer().notNull(),
  fencingToken: bigint('fencing_token', { mode: 'number' }).notNull().default(0),
});

export async function writeBalance(
  database: NodePgDatabase,
  id: string,
  balance: number,
  token: number,
): Promise<void> {
  const written = await database
    .update(accounts)
    .set({ balance, fencingToken: token })
    .where(and(eq(accounts.id, id), lte(accounts.fencingToken, token)))
    .returning({ id: accounts.id });
  if (written.length === 0) throw new StaleTokenError(id, token);
}
