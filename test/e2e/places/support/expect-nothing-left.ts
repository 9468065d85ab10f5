import { join } from 'node:path';
import type { RedisServer } from '../../../support/redis-server.js';
import { spawnTypeScript } from '../../../support/typescript-process.js';
import { waitFor } from '../../../support/wait-for.js';

/** Starts and closes an application for each of some calls: nothing of them stays open, here or on the server. */
export async function expectNothingLeft(server: RedisServer, calls: number): Promise<void> {
  const script = spawnTypeScript(join(__dirname, 'serverless.script.ts'), [server.url, String(calls)]);
  let output = '';
  script.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  script.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  // By itself, so nothing keeps it alive.
  const code = await new Promise((resolve) => script.once('close', resolve));
  const [started, before, after, ...rest] = output.split('\n');
  expect([code, started, ...rest]).toEqual([0, 'started', '']);
  expect(after).toBe(before);
  const client = server.client();
  await waitFor(async () => ((await client.client('LIST')) as string).trim().split('\n').length === 1);
  expect(await client.keys('*work*')).toEqual([]);
  client.disconnect();
}
