import type { Pool } from 'pg';
import { StaleTokenError } from './stale-token.error.js';

const WRITE = `
  UPDATE accounts SET balance = $2, fencing_token = $3
  WHERE id = $1 AND fencing_token <= $3`;

export async function writeBalance(pool: Pool, id: string, balance: number, token: number): Promise<void> {
  const { rowCount } = await pool.query(WRITE, [id, balance, token]);
  if (rowCount === 0) throw new StaleTokenError(id, token);
}
