import { once } from 'node:events';
import { join } from 'node:path';
import { Instances } from '../support/instances.js';
import { RedisBackend } from '../support/redis-backend.js';
import { runSample } from '../support/run-sample.js';
import { COMMAND_LINE, type RunOptions } from './demo/command-line.js';

const PASSWORD = process.env.OPERATOR_PASSWORD ?? 'night';

/** Keeps instances busy, and shows where they can be looked at, until it is interrupted. */
async function run({ exit, json, instances: count }: RunOptions, signal: AbortSignal): Promise<boolean> {
  await using redis = await RedisBackend.start();
  const env = { REDIS_URL: redis.url, OPERATOR_PASSWORD: PASSWORD };
  await using instances = await Instances.start({
    main: join(__dirname, 'main'),
    environments: Array.from({ length: count }, () => env),
    signal,
  });
  const { urls } = instances;
  console.log(json ? JSON.stringify({ urls, password: PASSWORD, redis: redis.url }) : invitation(urls));
  if (!exit && !signal.aborted) await once(signal, 'abort');
  return true;
}

function invitation(urls: readonly string[]): string {
  return [
    `${urls.length} instances are at work. Look at their locks, as operator with the password ${PASSWORD}:`,
    ...urls.map((url) => `  ${url}/locks`),
    'The same as JSON, one name, and the events:',
    `  curl -u operator:${PASSWORD} '${urls[0]}/locks?prefix=order:'`,
    `  curl -u operator:${PASSWORD} ${urls[0]}/locks/order%3Asneaker`,
    `  curl -u operator:${PASSWORD} ${urls[0]}/locks/events`,
    'What Prometheus sees:',
    ...urls.map((url) => `  ${url}/metrics`),
    'End with Ctrl-C.',
  ].join('\n');
}

void runSample(COMMAND_LINE, run);
