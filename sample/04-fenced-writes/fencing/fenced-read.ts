import type { Knex } from 'knex';
import { StaleTokenError } from './stale-token.error.js';

/**
 * Reads a row and leaves the holder's token there, so that earlier holders can write it no more.
 *
 * A plain SELECT would not do where a write depends on what was read: until the later holder has written, too, a
 * late write of an earlier one would still be taken, and then be overwritten.
 *
 * @param row - `knex('accounts').where({ id })`
 * @throws StaleTokenError when a later holder was here.
 */
export async function fencedRead<Row>(row: Knex.QueryBuilder, token: number): Promise<Row> {
  const [read]: Row[] = await row
    .where('fencing_token', '<=', token)
    .update({ fencing_token: token })
    .returning('*');
  if (read === undefined) throw new StaleTokenError(token);
  return read;
}
