import { databaseUrl } from '../support/database/database-url.js';
import { Database } from '../support/database/database.js';
import { runSample } from '../support/run-sample.js';
import { ScratchDirectory } from '../support/scratch-directory.js';
import { FencedAccount } from './contender/fenced-account.js';
import { longestOutage, playAvailability } from './demo/availability.js';
import { COMMAND_LINE, type RunOptions } from './demo/command-line.js';
import { overlaps } from './demo/hold-statistics.js';
import { playLostGrant } from './demo/lost-grant.js';
import { conclusion, line, type Report, table } from './demo/report.js';
import { Scene } from './demo/scene.js';
import { Timeline } from './demo/timeline.js';

/** Resolves to whether the quorum never had two holders, and Sentinel only where it was made to forget one. */
async function run({ json }: RunOptions, signal: AbortSignal): Promise<boolean> {
  await using scratch = await ScratchDirectory.make('failover-');
  const url = databaseUrl(scratch);
  await using database = new Database(url);
  if (!json) console.log('Starting eleven Redis processes and two contenders …');
  await using scene = await Scene.start({ databaseUrl: url, account: new FencedAccount(database), signal });
  if (json) console.log(JSON.stringify({ pids: scene.contenders.pids, urls: scene.quorum.urls }));

  const report = await play(scene, (event, at) => json || console.log(line(event, at)));
  if (json) console.log(JSON.stringify(report));
  else console.log(`${table(report)}\n${conclusion(report)}`);
  return report.overlaps.quorum.length === 0 && report.overlaps.sentinel.length <= 1;
}

async function play(scene: Scene, said: (event: string, at: number) => void): Promise<Report> {
  const timeline = new Timeline(scene.journal, said);
  await playAvailability(scene, timeline);
  const longestGap = { sentinel: longestOutage(scene, 'sentinel'), quorum: longestOutage(scene, 'quorum') };
  const lostGrant = await playLostGrant(scene, timeline);
  const holds = { sentinel: scene.journal.holdsOf('sentinel'), quorum: scene.journal.holdsOf('quorum') };
  return {
    timeline: timeline.entries(),
    holds: { sentinel: holds.sentinel.length, quorum: holds.quorum.length },
    longestGap,
    overlaps: { sentinel: overlaps(holds.sentinel), quorum: overlaps(holds.quorum) },
    lostGrant,
  };
}

void runSample(COMMAND_LINE, run);
