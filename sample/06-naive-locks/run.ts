import { RedisBackend } from '../support/redis-backend.js';
import { runSample } from '../support/run-sample.js';
import { COMMAND_LINE, type RunOptions } from './demo/command-line.js';
import { playContest } from './demo/contest.js';
import { table } from './demo/report.js';

const OURS = 'nest-redis-lock';

/** Lets the same things happen to all locks. Resolves to whether ours survived them. */
async function run({ json, lease: leaseSeconds }: RunOptions, interruption: AbortSignal): Promise<boolean> {
  await using redis = await RedisBackend.start();

  if (!json) console.log(`Six processes, each lock with a lease of ${leaseSeconds} s if it has one:`);
  const outcomes = await playContest({ redisUrl: redis.url, leaseSeconds, signal: interruption });
  console.log(json ? JSON.stringify({ outcomes }) : table(outcomes));
  return outcomes.every(({ lock, survived }) => lock !== OURS || survived);
}

void runSample(COMMAND_LINE, run);
