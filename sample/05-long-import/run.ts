import { once } from 'node:events';
import { RedisBackend } from '../support/redis-backend.js';
import { runSample } from '../support/run-sample.js';
import { ScratchDirectory } from '../support/scratch-directory.js';
import { COMMAND_LINE, type RunOptions } from './demo/command-line.js';
import { JobEvents } from './demo/job-events.js';
import { ProgressBars } from './demo/progress-bars.js';
import { invitation, type Stories, table } from './demo/report.js';
import { Scene } from './demo/scene.js';
import { killed, type Stage, stopped, undisturbed } from './demo/stories.js';
import { LEASE } from './imports/leases.js';

/** A crash costs the others a lease; looking for it takes a moment, too. */
const LONGEST_WAIT = LEASE + 500;

/** Runs three imports side by side. Resolves to whether each row came in once. */
async function run({ exit, json, rows }: RunOptions, signal: AbortSignal): Promise<boolean> {
  await using scratch = await ScratchDirectory.make('long-import-');
  await using redis = await RedisBackend.start();
  const { url } = redis;
  await using events = await JobEvents.listen(url, signal);
  await using scene = await Scene.start({ REDIS_URL: url, IMPORT_DIRECTORY: scratch.path }, signal);
  if (json) console.log(JSON.stringify({ url: scene.url, redis: redis.own?.url, pids: scene.pids }));

  const stories = await play({ scene, events, rows });
  if (json) {
    console.log(JSON.stringify(stories));
  } else {
    console.log(table(stories));
    if (!exit) console.log(invitation(scene.url, await scene.write('yours', rows)));
  }
  if (!exit && !signal.aborted) await once(signal, 'abort');
  return succeeded(stories, rows);
}

async function play(stage: Stage): Promise<Stories> {
  using bars = new ProgressBars(stage.events);
  const [first, second, third] = await Promise.all([
    undisturbed(stage, bars.add('undisturbed')),
    stopped(stage, bars.add('stopped')),
    killed(stage, bars.add('killed')),
  ]);
  return { undisturbed: first, stopped: second, killed: third };
}

function succeeded(stories: Stories, rows: number): boolean {
  const complete = Object.values(stories).every((story) => story.rows === rows && story.repeated === 0);
  return complete && stories.undisturbed.meanwhile.status === 423 && stories.killed.freeAfter < LONGEST_WAIT;
}

void runSample(COMMAND_LINE, run);
