import { duringTests } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';
import { RequestLog } from '../../support/request-log.js';

describe('A log of requests', () => {
  const server = duringTests(() => RedisServer.start());

  it('begins while other clients send requests', async () => {
    const others = Array.from({ length: 5 }, () => server.client());
    const ended = new AbortController();
    const sending = others.map(async (client) => {
      while (!ended.signal.aborted) await client.get('a');
    });
    try {
      for (let i = 0; i < 20; i++) {
        const log = await RequestLog.open(server);
        await server.client().echo(`asked ${i}`);
        const requests = await log.requests();
        log.close();

        expect(requests.map(({ args }) => args[0])).toContain(`asked ${i}`);
      }
    } finally {
      ended.abort();
      await Promise.all(sending);
    }
  });
});
