import { RedisServer } from '../../support/redis-server.js';
import { expectNothingLeft } from './support/expect-nothing-left.js';

describe('a standalone application', () => {
  it('leaves nothing open when it is started and closed for each of 100 calls', async () => {
    await using server = await RedisServer.start();
    await expectNothingLeft(server, 100);
  });
});
