import type { Knex } from 'knex';
import { StaleTokenError } from './stale-token.error.js';

export async function writeBalance(knex: Knex, id: string, balance: number, token: number): Promise<void> {
  const written = await knex('accounts')
    .where({ id })
    .andWhere('fencing_token', '<=', token)
    .update({ balance, fencing_token: token });
  if (written === 0) throw new StaleTokenError(id, token);
}
