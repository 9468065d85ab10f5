import { duringTests } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';
import { expectNothingLeft } from './support/expect-nothing-left.js';

describe('a standalone application', () => {
  const server = duringTests(() => RedisServer.start());

  it('leaves nothing open when it is started and closed for each of 30 calls', () =>
    expectNothingLeft(server, 30));
});
