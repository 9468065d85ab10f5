import { collectGarbage } from '../support/collect-garbage.js';
import { RedisServer } from '../support/redis-server.js';
import { Instance } from './instance.js';

const NAMES = 1_000_000;
const CHUNK = 10_000;
/** Microseconds for which a command may keep all others waiting. */
const LONGEST = 2_000;
const MEGABYTE = 2 ** 20;

const FILL = `for i = ARGV[1], ARGV[2] do redis.call('SET', 'lock:{x:' .. i .. '}', 'plain:1', 'PX', 3600000) end`;

it('A list of a million locks delays no caller, and needs little memory', async () => {
  await using server = await RedisServer.start();
  await using instance = await new Instance({ connection: server.url }).warmUp();
  const admin = server.client();
  for (let i = 0; i < NAMES; i += CHUNK) await admin.eval(FILL, 0, i, i + CHUNK - 1);
  await admin.config('SET', 'slowlog-log-slower-than', LONGEST, 'slowlog-max-len', 10_000);
  await admin.slowlog('RESET');
  const heaps: number[] = [];
  let listed = 0;
  let found = 0;
  const isFound = new Uint8Array(NAMES);
  await server.resetCommandCounts();
  for await (const { name } of instance.locks.list({ prefix: 'x:' })) {
    const i = Number(name.slice(2));
    if (isFound[i] === 0) found += 1;
    isFound[i] = 1;
    listed += 1;
    if (listed % (NAMES / 10) !== 0) continue;
    collectGarbage();
    heaps.push(process.memoryUsage().heapUsed / MEGABYTE);
  }
  const slow = (await admin.slowlog('GET', 10_000)) as readonly unknown[];
  const { evalsha = 0 } = await server.commandCounts();

  expect(found).toBe(NAMES);
  expect(evalsha).toBeGreaterThan(NAMES / 500);
  // A server that a busy machine lets wait in the middle of a command is told as slow, too.
  expect(slow.length).toBeLessThanOrEqual(evalsha / 10);
  expect(Math.max(...heaps) - (heaps[0] ?? 0)).toBeLessThan(5);
});
