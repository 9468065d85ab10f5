import type { Knex } from 'knex';
import { StaleTokenError } from './stale-token.error.js';

/** A row that may be there already. */
export interface FencedRow {
  readonly table: string;
  /** Its primary key. */
  readonly key: string;
  readonly values: object;
}

/**
 * INSERT, or UPDATE where the row is there with a token that is not greater: for rows that the first holder makes.
 *
 * @throws StaleTokenError when a later holder was here.
 */
export async function fencedUpsert(
  knex: Knex,
  { table, key, values }: FencedRow,
  token: number,
): Promise<void> {
  const written = await knex(table)
    .insert({ ...values, fencing_token: token })
    .onConflict(key)
    .merge()
    .where(`${table}.fencing_token`, '<=', token)
    .returning(key);
  if (written.length === 0) throw new StaleTokenError(token);
}
