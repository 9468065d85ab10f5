import { EntitySchema, LessThanOrEqual, type Repository } from 'typeorm';
import { StaleTokenError } from './stale-token.error.js';

export interface Account {
  id: string;
  balance: number;
  fencingToken: number;
}

// In an entity class: @Column({ name: 'fencing_token', type: 'bigint', default: 0 }) fencingToken: number
export const AccountEntity = new EntitySchema<Account>({
  name: 'accounts',
  columns: {
    id: { type: 'text', primary: true },
    balance: { type: 'integer' },
    fencingToken: { name: 'fencing_token', type: 'bigint', default: 0 },
  },
});

export async function writeBalance(
  accounts: Repository<Account>,
  id: string,
  balance: number,
  token: number,
): Promise<void> {
  // Not save(): it writes by the primary key alone.
  const { affected } = await accounts.update(
    { id, fencingToken: LessThanOrEqual(token) },
    { balance, fencingToken: token },
  );
  if (affected === 0) throw new StaleTokenError(id, token);
}
