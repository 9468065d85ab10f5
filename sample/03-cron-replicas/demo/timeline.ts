import pc from 'picocolors';
import { JOB_NAMES } from '../jobs/job-name.js';
import type { Tick } from './observation.js';
import type { Run } from './run-log.js';

const COLUMN = 50;
const LANE = 1_000 / COLUMN;

/** The heading of the lanes; what stands below comes line by line. */
export function heading(): string {
  const titles = ['no lock', 'lock', 'lock and minHold'];
  return ['tick'.padEnd(8), ...titles.map((title) => title.padEnd(LANE))].join('  ').trimEnd();
}

/** A line for a tick: who ran each job, and when within the second. */
export function line({ tick, runs, killed }: Tick): string {
  const lanes = JOB_NAMES.map((name) => lane(runs.filter(({ job }) => job === name)));
  const death = killed === undefined ? [] : [pc.yellow(`${killed} killed at work`)];
  return [timeOfDay(tick), ...lanes, ...death].join('  ');
}

function lane(runs: readonly Run[]): string {
  const marks: string[] = Array.from({ length: LANE }, () => '·');
  for (const { at, instance } of runs) {
    const column = Math.min(Math.max(Math.floor(at / COLUMN), 0), LANE - runs.length);
    marks[marks.indexOf('·', column)] = instance;
  }
  const colour = runs.length === 1 ? pc.green : pc.red;
  return marks.map((mark) => (mark === '·' ? pc.dim(mark) : colour(mark))).join('');
}

function timeOfDay(tick: number): string {
  return new Date(tick * 1_000).toTimeString().slice(0, 8);
}
