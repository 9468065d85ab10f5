import { setTimeout as delay } from 'node:timers/promises';
import type { StartedImport } from '../api/imports.service.js';
import type { ImportedRow } from '../worker/imported-row.interface.js';
import type { Answer } from './imports-client.js';
import type { JobEvents } from './job-events.js';
import type { ProgressBar } from './progress-bars.js';
import type { Scene } from './scene.js';

/** What all stories need. */
export interface Stage {
  readonly scene: Scene;
  readonly events: JobEvents;
  readonly rows: number;
}

/** How an import went. */
export interface Story {
  /** Rows of the file that were imported, and how often one was imported again. */
  readonly rows: number;
  readonly repeated: number;
  /** Fencing tokens of the holds under which rows were written, in this order. */
  readonly tokens: readonly number[];
  /** Token of the hold of the first request. */
  readonly token: number;
}

/** Nothing happens to it; somebody asks for it again in the middle and at the end. */
export interface UndisturbedStory extends Story {
  readonly meanwhile: Answer;
  readonly afterwards: Answer;
}

/** An operator takes its lock away, and it is started again. */
export interface StoppedStory extends Story {
  /** Milliseconds from the answer to the operator until its job had failed. */
  readonly stoppedAfter: number;
  /** Percentage that it had reached when the operator had the answer. */
  readonly releasedAt: number;
  /** Percentage that it had reached in the end. */
  readonly stoppedAt: number;
  /** Whether it goes on by itself. */
  readonly ended: string;
}

/** Its worker is killed. */
export interface KilledStory extends Story {
  /** Milliseconds from the crash until the dead worker's lock was free. */
  readonly freeAfter: number;
}

export async function undisturbed(stage: Stage, bar: ProgressBar): Promise<UndisturbedStory> {
  const { scene, events } = stage;
  const { file, job, token } = await begin(stage, bar, 'undisturbed');
  await events.reached(job, 25);
  const meanwhile = await scene.client.tryToStart(file);
  bar.say(`asked for again: ${meanwhile.status}`);
  await events.ended(job);
  const afterwards = await scene.client.tryToStart(file);
  return { ...(await outcomeOf(stage, file)), token, meanwhile, afterwards };
}

export async function stopped(stage: Stage, bar: ProgressBar): Promise<StoppedStory> {
  const { scene, events, rows } = stage;
  const { file, job, token } = await begin(stage, bar, 'stopped');
  await events.reached(job, 25);
  await scene.client.stop(file);
  const before = performance.now();
  const percent = async (): Promise<number> => (100 * (await scene.imported(file)).length) / rows;
  const releasedAt = await percent();
  const ended = await events.ended(job);
  const stoppedAfter = performance.now() - before;
  const stoppedAt = await percent();
  bar.say(`lock taken away: the worker stopped after ${Math.round(stoppedAfter)} ms; asked for again`);
  const again = await follow(bar, await scene.client.start(file));
  await events.ended(again.job);
  return { ...(await outcomeOf(stage, file)), token, stoppedAfter, releasedAt, stoppedAt, ended };
}

export async function killed(stage: Stage, bar: ProgressBar): Promise<KilledStory> {
  const { scene, events } = stage;
  const { file, job, token } = await begin(stage, bar, 'killed');
  await events.reached(job, 25);
  const [row] = await scene.imported(file);
  if (!row) throw new Error(`${file} made progress without a row`);
  scene.kill(row);
  const before = performance.now();
  bar.say('worker killed');
  await free(stage, file, row.token);
  const freeAfter = performance.now() - before;
  bar.say(`worker killed: the lock was free after ${Math.round(freeAfter)} ms`);
  await events.ended(job);
  return { ...(await outcomeOf(stage, file)), token, freeAfter };
}

interface Begun {
  readonly job: string;
  readonly token: number;
}

async function begin(
  { scene, rows }: Stage,
  bar: ProgressBar,
  what: string,
): Promise<Begun & { file: string }> {
  const file = await scene.write(what, rows);
  return { file, ...(await follow(bar, await scene.client.start(file))) };
}

async function follow(bar: ProgressBar, { job = '', token }: StartedImport): Promise<Begun> {
  bar.follow(job);
  return { job, token };
}

/** Waits until the hold with this token has ended, whoever has the lock now. */
async function free({ scene }: Stage, file: string, token: number): Promise<void> {
  while ((await scene.client.tokenOf(file)) === token) await delay(10);
}

async function outcomeOf({ scene }: Stage, file: string): Promise<Omit<Story, 'token'>> {
  const imported = await scene.imported(file);
  const different = new Set(imported.map(({ row }: ImportedRow) => row)).size;
  return {
    rows: different,
    repeated: imported.length - different,
    tokens: [...new Set(imported.map(({ token }) => token))],
  };
}
