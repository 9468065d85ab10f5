import { type Model, Schema } from 'mongoose';
import { StaleTokenError } from './stale-token.error.js';

export interface Account {
  _id: string;
  balance: number;
  fencingToken: number;
}

export const accountSchema = new Schema<Account>({
  _id: String,
  balance: Number,
  fencingToken: { type: Number, default: 0 },
});

export async function writeBalance(
  accounts: Model<Account>,
  id: string,
  balance: number,
  token: number,
): Promise<void> {
  const { matchedCount } = await accounts.updateOne(
    { _id: id, fencingToken: { $lte: token } },
    { $set: { balance, fencingToken: token } },
  );
  if (matchedCount === 0) throw new StaleTokenError(id, token);
}
