import { BigIntType, EntitySchema } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { StaleTokenError } from './stale-token.error.js';

export interface Account {
  id: string;
  balance: number;
  fencingToken: number;
}

export const AccountEntity = new EntitySchema<Account>({
  name: 'Account',
  tableName: 'accounts',
  properties: {
    id: { type: 'text', primary: true },
    balance: { type: 'integer' },
    fencingToken: { type: new BigIntType('number'), fieldName: 'fencing_token', default: 0 },
  },
});

export async function writeBalance(
  em: EntityManager,
  id: string,
  balance: number,
  token: number,
): Promise<void> {
  // Not flush(): it writes by the primary key alone.
  const written = await em.nativeUpdate(
    AccountEntity,
    { id, fencingToken: { $lte: token } },
    { balance, fencingToken: token },
  );
  if (written === 0) throw new StaleTokenError(id, token);
}
