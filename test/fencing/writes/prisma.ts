import type { PrismaClient } from '../generated/client.js';
import { StaleTokenError } from './stale-token.error.js';

// schema.prisma: fencingToken BigInt @default(0) @map("fencing_token")
export async function writeBalance(
  prisma: PrismaClient,
  id: string,
  balance: number,
  token: number,
): Promise<void> {
  const fencingToken = BigInt(token);
  const { count } = await prisma.account.updateMany({
    where: { id, fencingToken: { lte: fencingToken } },
    data: { balance, fencingToken },
  });
  if (count === 0) throw new StaleTokenError(id, token);
}
