import { join, resolve } from 'node:path';
import { earlierSources } from '../support/earlier-sources.js';
import { mayHoldTogether } from '../support/may-hold-together.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { startWorker, type Worker } from '../support/worker.js';
import type { Crowd, RevisionCalls, SeenHold, Wish } from './support/revision.worker.js';

/**
 * Revisions from which an application may be updated to this one while it runs: the last that acquired and released
 * shared holds one by one, and the last in which an instance passed a lock to its own readers without a request.
 */
const REVISIONS = ['9e6ed6f', '7d7e9e2'];
const SECONDS = 1;
const CALLERS = 6;

const ALONE: Wish = { names: ['x'] };
const READER: Wish = { names: ['x'], mode: 'shared' };
const PERMIT: Wish = { names: ['x'], mode: 'shared', limit: 3 };
const SEVERAL: Wish[] = [['x', 'y'], ['x', 'z'], ['y', 'z'], ['x', 'y', 'z'], ['y']].map((names) => ({
  names,
}));

type Some = readonly [Wish, ...Wish[]];

/** What only the present revision can ask for, beside single permits. */
const SEVERAL_PERMITS: Some = [PERMIT, { ...PERMIT, permits: 2 }, { ...PERMIT, permits: 3 }];

const CROWDS: readonly [string, Some, number][] = [
  ['exclusive holders', [ALONE], 2],
  ['exclusive holders without work', [ALONE], -1],
  ['readers and writers', [ALONE, READER, READER], 2],
  ['readers and writers without work', [ALONE, READER], -1],
  ['permits', [PERMIT], 2],
  ['permits without work', [PERMIT], -1],
  ['readers, writers and permits', [ALONE, READER, PERMIT], 2],
  ['holders of several names', [ALONE, ...SEVERAL], 2],
  ['holders of several names beside readers', [READER, ...SEVERAL], 2],
];

/** What two processes do one after the other. */
const HOLDS: readonly [string, Wish, Wish][] = [
  ['a lock', ALONE, ALONE],
  ['a shared lock, to a writer', READER, ALONE],
  ['a lock, to a reader', ALONE, READER],
  ['the only permit', { ...PERMIT, limit: 1 }, { ...PERMIT, limit: 1 }],
  ['one of several names', { names: ['x', 'y'] }, ALONE],
  ['a lock, to a caller of several names', ALONE, { names: ['w', 'x'] }],
];

describe.each(REVISIONS)('During a rolling update from %s, processes', (revision) => {
  let server: RedisServer;
  let workers: Worker<RevisionCalls>[];

  beforeAll(async () => {
    server = await RedisServer.start();
    const [earlier, present] = [earlierSources(revision), resolve(__dirname, '../../lib')];
    workers = await Promise.all(
      [earlier, present, earlier, present].map(async (lib) => {
        const worker = await startWorker<RevisionCalls>(join(__dirname, 'support/revision.worker.ts'));
        await worker.call('open', lib, server.url);
        return worker;
      }),
    );
  });
  afterEach(async () => {
    const problems = (await Promise.all(workers.map((each) => each.call('problems')))).flat();
    if (problems.length > 0) throw new Error(problems.join('\n'));
  });
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.kill()));
    await server.stop();
  });

  const processOf = (index: number): Worker<RevisionCalls> => {
    const found = workers[index];
    if (!found) throw new Error(`There is no process ${index}`);
    return found;
  };

  it.each(CROWDS)(
    'serve all %s, admit together only those that may overlap, and leave nothing',
    async (_what, wishes, work) => {
      const crowd: Crowd = { callers: CALLERS, milliseconds: SECONDS * 1_000, wishes, work, seed: 0 };
      const seen = await Promise.all(
        workers.map((each, i) => each.call('crowd', `p${i}`, { ...crowd, seed: 20_261_124 + 1_000 * i })),
      );
      const holds = seen.flat();

      expect(illegal(holds)).toEqual([]);
      for (const each of seen) expect(each.length).toBeGreaterThan(CALLERS);
      // A queue or a hold that one revision leaves behind would be in the other's way.
      const names = [...new Set(wishes.flatMap((wish) => wish.names))];
      for (const each of workers) expect(await each.call('isFree', { names })).toBe(true);
    },
  );

  it('hold no more than the limit together, although only the present ones take several permits at once', async () => {
    const crowd = { callers: CALLERS, milliseconds: SECONDS * 1_000, work: 2 };
    const seen = await Promise.all(
      workers.map((each, i) =>
        each.call('crowd', `p${i}`, {
          ...crowd,
          wishes: i % 2 ? SEVERAL_PERMITS : [PERMIT],
          seed: 1_000 * i,
        }),
      ),
    );
    const holds = seen.flat();

    expect(illegal(holds)).toEqual([]);
    for (const permits of [2, 3]) expect(holds.some((hold) => hold.permits === permits)).toBe(true);
    for (const each of workers) expect(await each.call('isFree', ALONE)).toBe(true);
  });

  it('attach a hold of several permits in the earlier revision, with all its permits', async () => {
    const two = { ...PERMIT, permits: 2 };
    await processOf(1).call('hold', 'passed', two);
    await processOf(0).call('attach', 'passed', await processOf(1).call('detach', 'passed'));

    await processOf(0).call('extend', 'passed');
    expect(await processOf(1).call('isFree', two)).toBe(false);
    expect(await processOf(1).call('isFree', PERMIT)).toBe(true);
    await processOf(0).call('release', 'passed');
    expect(await processOf(0).call('isFree', ALONE)).toBe(true);
  });

  describe.each([
    ['earlier', 'present', 0, 1],
    ['present', 'earlier', 1, 0],
  ])('of the %s revision, for one of the %s,', (_from, _to, from, to) => {
    it.each(HOLDS)('hand over %s', async (_what, first, second) => {
      await processOf(from).call('hold', 'first', first);
      const next = processOf(to).call('hold', 'second', second);
      const admin = server.client();
      await waitFor(async () => (await admin.zcard('lock:{x}:q')) > 0, { that: 'a waiter in the queue' });
      await processOf(from).call('release', 'first');

      expect(await next).toBe('hand-off');
      await processOf(to).call('release', 'second');
      expect(await processOf(from).call('isFree', { names: ['w', 'x', 'y'] })).toBe(true);
    });

    it.each<[string, Wish]>([
      ['an exclusive hold', ALONE],
      ['a shared hold', READER],
      ['holds of several names', { names: ['x', 'y'] }],
    ])('detach %s, which it attaches', async (_what, wish) => {
      await processOf(from).call('hold', 'passed', wish);
      const tokens = await processOf(from).call('tokens', 'passed');
      await processOf(to).call('attach', 'passed', await processOf(from).call('detach', 'passed'));

      expect(await processOf(to).call('tokens', 'passed')).toEqual(tokens);
      await processOf(to).call('extend', 'passed');
      expect(await processOf(from).call('isFree', ALONE)).toBe(false);
      await processOf(to).call('release', 'passed');
      expect(await processOf(from).call('isFree', ALONE)).toBe(true);
    });
  });
});

/** Who had a name together although they may not, and tokens that do not grow. */
function illegal(holds: readonly SeenHold[]): string[] {
  const problems: string[] = [];
  for (const name of new Set(holds.map((hold) => hold.name))) {
    const inOrder = holds.filter((hold) => hold.name === name).toSorted((a, b) => a.begin - b.begin);
    let inside: SeenHold[] = [];
    let alone = 0;
    const tokens = new Set<number>();
    for (const hold of inOrder) {
      inside = [...inside.filter(({ end }) => end > hold.begin), hold];
      if (!mayHoldTogether(inside)) problems.push(`${inside.map(({ caller }) => caller).join()} had ${name}`);
      if (tokens.has(hold.token)) problems.push(`token ${hold.token} of ${name} a second time`);
      if (hold.limit === undefined && hold.token < alone) problems.push(`token ${hold.token} after ${alone}`);
      tokens.add(hold.token);
      alone = Math.max(alone, hold.token);
    }
  }
  return problems;
}
