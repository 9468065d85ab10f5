import type { RedisServer } from '../../support/redis-server.js';

/** How many connections a Redis has beside the one that asks. */
export async function otherClients(server: RedisServer): Promise<number> {
  const client = server.client();
  try {
    const list = await client.client('LIST');
    return String(list).trim().split('\n').length - 1;
  } finally {
    client.disconnect();
  }
}
