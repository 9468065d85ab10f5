import type { Knex } from 'knex';
import { StaleTokenError } from './stale-token.error.js';

/**
 * UPDATE … WHERE fencing_token <= the holder's token.
 *
 * `<=`, because one hold has one token and may write the row several times. Two holds never have the same token.
 * `<` would refuse a hold's second write, also the one after its own `fencedRead`.
 *
 * @param row - `knex('accounts').where({ id })`
 * @throws StaleTokenError when a later holder was here.
 */
// #region tour
export async function fencedUpdate(row: Knex.QueryBuilder, values: object, token: number): Promise<void> {
  const updated = await row.where('fencing_token', '<=', token).update({ ...values, fencing_token: token });
  if (updated === 0) throw new StaleTokenError(token);
}
// #endregion
