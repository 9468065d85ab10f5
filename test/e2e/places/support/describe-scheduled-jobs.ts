import { join } from 'node:path';
import { RedisServer } from '../../../support/redis-server.js';
import { waitFor } from '../../../support/wait-for.js';
import { startWorker, type Worker } from '../../../support/worker.js';
import type { JobReport, ScheduledJobsCalls } from './scheduled-jobs.worker.js';

// As in the worker, which cannot be imported: it would serve calls here.
const PERIOD = 2_000;
const MIN_HOLD = 1_000;

// A timer may ring a little early.
const EARLY = 50;
const tickOf = (at: number): number => Math.floor((at + EARLY) / PERIOD);
/** A replica that a busy machine delays beyond minHold finds the lock free again. */
const isPunctual = (at: number): boolean => (at + EARLY) % PERIOD < MIN_HOLD / 2;

/** What is expected of jobs that two replicas schedule, of which only one runs each time. */
export function describeScheduledJobs(ticks: number): void {
  const timeout = ticks * PERIOD + 20_000;
  describe(`locked jobs of two replicas, for ${ticks} ticks,`, () => {
    let server: RedisServer;
    const replicas: Worker<ScheduledJobsCalls>[] = [];

    beforeAll(async () => {
      server = await RedisServer.start();
      const file = join(__dirname, 'scheduled-jobs.worker.ts');
      replicas.push(
        ...(await Promise.all([1, 2].map(() => startWorker<ScheduledJobsCalls>(file, [server.url])))),
      );
      await Promise.all(replicas.map((replica) => replica.call('start')));
    });
    afterAll(async () => {
      await Promise.all(replicas.map((replica) => replica.kill()));
      await server.stop();
    });

    const reports = (job: JobReport['job'], from = replicas): number[] =>
      from
        .flatMap(({ messages }) => messages as JobReport[])
        .flatMap((report) => (report.job === job ? [report.at] : []))
        .toSorted((a, b) => a - b);
    const ticksOf = (replica: Worker<ScheduledJobsCalls>): Set<number> =>
      new Set(reports('tick', [replica]).filter(isPunctual).map(tickOf));
    /** Ticks for which both replicas were punctual, and for the one before: a late run may last into the next tick. */
    const common = (): number[] => {
      const punctual = replicas.map(ticksOf);
      const [first = new Set<number>()] = punctual;
      return [...first].filter((tick) => punctual.every((of) => of.has(tick) && of.has(tick - 1)));
    };

    it('run once per tick of a cron schedule', async () => {
      await waitFor(() => common().length > ticks, { timeout, that: 'ticks in both replicas' });
      // The job of the last tick may be on its way.
      const told = common().slice(0, ticks);
      expect(
        reports('cron')
          .map(tickOf)
          .filter((tick) => told.includes(tick)),
      ).toEqual(told);
    });

    it('run at most once per minHold at an interval, whichever replica is first', async () => {
      await waitFor(() => reports('interval').length > ticks, { timeout, that: 'runs of the job' });
      const runs = reports('interval');
      const gaps = runs.slice(1).map((at, index) => at - (runs[index] ?? 0));
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(MIN_HOLD);
    });
  });
}
