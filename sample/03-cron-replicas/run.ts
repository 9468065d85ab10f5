import { Backends } from '../support/backends.js';
import { Database } from '../support/database/database.js';
import { runSample } from '../support/run-sample.js';
import { COMMAND_LINE, type RunOptions } from './demo/command-line.js';
import { Observation } from './demo/observation.js';
import { outcome } from './demo/outcome.js';
import { replicas, startReplicas } from './demo/replicas.js';
import { table } from './demo/report.js';
import { RunLog } from './demo/run-log.js';
import { heading, line } from './demo/timeline.js';

/** Watches three processes, one of which dies. Resolves to whether the job with `minHold` ran once for each tick. */
async function run(options: RunOptions, signal: AbortSignal): Promise<boolean> {
  await using backends = await Backends.start('cron-replicas');
  await using database = new Database(backends.env.DATABASE_URL);
  const log = await RunLog.open(database);
  const all = replicas(options.behind);
  await using instances = await startReplicas(all, backends.env, signal);

  const print = options.json ? () => {} : (text: string) => console.log(text);
  print(`Three processes with a job for every second; the clock of C is ${options.behind} ms behind:`);
  print(heading());
  const observation = new Observation({
    replicas: all,
    instances,
    log,
    signal,
    onTick: (tick) => print(line(tick)),
  });
  await observation.follow(options.ticks);
  await observation.killHolder();
  await observation.follow(options.ticks);

  const { ticks } = observation;
  const unlocked = outcome('unlocked', ticks);
  const locked = outcome('locked', ticks);
  const minHold = outcome('minHold', ticks);
  if (options.json) console.log(JSON.stringify({ ticks, unlocked, locked, minHold }));
  print(table({ 'no lock': unlocked, lock: locked, 'lock and minHold': minHold }));
  return minHold.missed === 0 && minHold.repeated === 0;
}

void runSample(COMMAND_LINE, run);
