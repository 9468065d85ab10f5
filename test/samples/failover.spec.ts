import type { Report } from '../../sample/07-failover/demo/report.js';
import type { Entry } from '../../sample/07-failover/demo/timeline.js';
import { isAlive, listens } from './support/remains.js';
import { SampleRuns } from './support/sample-runs.js';
import { duringTests } from '../support/during-tests.js';
import { waitFor } from '../support/wait-for.js';

/** The first line that the sample prints with `--json`. */
interface Started {
  readonly pids: readonly number[];
  /** Of the quorum. */
  readonly urls: readonly string[];
}

describe('sample 07, the failover', () => {
  const runs = duringTests(() => SampleRuns.of('07-failover'));
  let report: Report;
  let exit: unknown[];

  beforeAll(async () => {
    const run = runs.start(['--json']);
    await run.json<Started>();
    report = await run.json();
    exit = await run.ended;
  }, 240_000);

  /** What happened between the event and the next one. */
  function after(event: string): Entry {
    const entry = report.timeline.find((each) => each.event === event);
    if (!entry) throw new Error(`There is no "${event}" in the timeline`);
    return entry;
  }

  it('ends with success, and leaves nothing behind', async () => {
    expect(exit).toEqual([0, null]);
    expect(await runs.files()).toEqual([]);
  });

  it('grants on both while all servers are up', () => {
    for (const event of ['all servers are up', 'all servers are up again']) {
      expect(after(event)).toMatchObject({
        sentinel: { outcome: 'granted' },
        quorum: { outcome: 'granted' },
      });
    }
  });

  it('rejects on Sentinel until a replica is master, and continues with 1 and 2 of 5 down on the quorum (row 9)', () => {
    expect(after("Sentinel's master killed; quorum: 1 of 5 killed")).toMatchObject({
      sentinel: { outcome: 'refused' },
      quorum: { outcome: 'granted' },
    });
    expect(after('a replica is master').sentinel.outcome).toBe('granted');
    expect(after('the old master is back as a replica; quorum: 2 of 5 down').quorum.outcome).toBe('granted');
    expect(report.longestGap.sentinel).toBeGreaterThan(700);
  });

  it('rejects on the quorum with 3 of 5 down, and grants again with 2 down (row 9)', () => {
    expect(after('quorum: 3 of 5 down')).toMatchObject({
      sentinel: { outcome: 'granted' },
      quorum: { outcome: 'refused' },
    });
    expect(after('quorum: the third is back with its data').quorum.outcome).toBe('granted');
  });

  it('shows two holders on Sentinel after replicas missed a grant; fencing rejects the old one (row 8)', () => {
    const { tokens, firstEnded } = report.lostGrant;
    const [first = 0, second = 0] = tokens.sentinel;

    expect(second).toBeGreaterThan(first);
    expect(report.overlaps.sentinel).toEqual([{ first, second, lasted: expect.any(Number) }]);
    expect(after('a replica that knows of no hold is master').sentinel.overlaps).toBe(1);
    expect(firstEnded.sentinel).toBe('fenced');
  });

  it('rejects on Sentinel a grant that requires a replica and finds none (row 8)', () => {
    expect(report.lostGrant.withReplica).toBe('LOCK_UNAVAILABLE');
  });

  it('keeps the hold on the quorum with 2 of 5 killed, and never has two holders there (row 8) (row 9)', () => {
    const [first = 0, second = 0] = report.lostGrant.tokens.quorum;

    expect(report.overlaps.quorum).toEqual([]);
    expect(after("Sentinel's master killed; quorum: 2 of 5 killed").quorum).toMatchObject({
      outcome: 'waited',
      holds: 0,
    });
    expect(report.lostGrant.firstEnded.quorum).toBe('released');
    expect(second).toBeGreaterThan(first);
  });

  it('ends everything it started on Ctrl-C', async () => {
    const run = runs.start(['--json']);
    const { pids, urls } = await run.json<Started>();

    expect(await run.end('SIGINT')).toEqual([130, null]);
    await expectNothingLeft(pids, urls);
    expect(await runs.files()).toEqual([]);
  });

  it('leaves no contender and no Redis running when it is killed', async () => {
    const run = runs.start(['--json']);
    const { pids, urls } = await run.json<Started>();
    for (const url of urls) expect(await listens(url)).toBe(true);

    await run.end('SIGKILL');

    await expectNothingLeft(pids, urls);
    const servers = async () => (await runs.files()).filter((name) => name.startsWith('embedded-redis'));
    await waitFor(async () => (await servers()).length === 0, {
      that: 'the files of all servers to be removed',
    });
  });
});

async function expectNothingLeft(pids: readonly number[], urls: readonly string[]): Promise<void> {
  await waitFor(() => !pids.some(isAlive), { timeout: 15_000, that: 'the contenders to end' });
  for (const url of urls) {
    await waitFor(async () => !(await listens(url)), { timeout: 15_000, that: `${url} to end` });
  }
}
