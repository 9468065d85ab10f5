import type { Redis } from 'ioredis';
import { acquireScript } from '../../lib/store/scripts/acquire.script.js';
import { acquireSharedScript } from '../../lib/store/scripts/acquire-shared.script.js';
import { cancelScript } from '../../lib/store/scripts/cancel.script.js';
import { extendScript } from '../../lib/store/scripts/extend.script.js';
import { forceReleaseScript } from '../../lib/store/scripts/force-release.script.js';
import { keepScript } from '../../lib/store/scripts/keep.script.js';
import { transferScript } from '../../lib/store/scripts/transfer.script.js';
import type { LuaScript } from '../../lib/store/scripts/lua-script.js';
import { quorumAcquireScript } from '../../lib/store/scripts/quorum-acquire.script.js';
import { quorumReleaseScript } from '../../lib/store/scripts/quorum-release.script.js';
import { releaseScript } from '../../lib/store/scripts/release.script.js';
import { releaseByOwnerScript } from '../../lib/store/scripts/release-by-owner.script.js';
import { yieldScript } from '../../lib/store/scripts/yield.script.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';

const FENCE = 'lock:fence';
const TTL = 10_000;
const PREFIXES = '5 lock:inbox:';
/** The same as one word, for the scripts that most requests run. */
const BOTH = '5 lock:inbox:';

type Args = readonly (string | number)[];

interface Name {
  readonly lock: string;
  readonly queue: string;
  readonly shared: string;
}

const nameOf = (name: string): Name => ({
  lock: `lock:{${name}}`,
  queue: `lock:{${name}}:q`,
  shared: `lock:{${name}}:s`,
});
/** The first has what the script is about; the other one, asked for before it in the same call, is free or held simply. */
const [N, M] = [nameOf('n'), nameOf('m')];
const keysOf = ({ lock, queue, shared }: Name): string[] => [lock, queue, shared];

/** Somebody listens to the inbox of `w` and of `v`, nobody to that of `gone`. */
const PLACES = {
  alone: 'w|3000|1',
  dead: 'gone|3000|1',
  sharing: 'w|3000|2|s1',
  limited: 'w|3000|2|s1of2',
  atNode: 'w',
};

interface Scene {
  readonly script: LuaScript;
  readonly keys: readonly string[];
  readonly args: Args;
  /** What is there before: who has the lock alone, shared holds with how long they last, who waits. */
  readonly owner?: string;
  readonly holders?: Readonly<Record<string, number | string>>;
  readonly waiting?: readonly string[];
  /** Of the name that is asked for first in the same call. */
  readonly ownerOfOther?: string;
}

const single: readonly string[] = [FENCE, ...keysOf(N)];
const both = [FENCE, ...keysOf(M), ...keysOf(N)];
const node = [N.lock, N.queue, `${N.lock}:fence`];
const waiting = [PLACES.dead, PLACES.alone, 'v|3000|1'];
const terms = `${TTL} 2 3000|2`;
const share = (limit = ''): string => `${TTL} 2 s1${limit} 0 3000 `;

const acquire = (instance: string, endedToken = 0): Pick<Scene, 'script' | 'keys' | 'args'> => ({
  script: acquireScript,
  keys: both,
  args: [instance, '', `${endedToken} ${BOTH}`, terms, terms],
});
const acquireShared = (limit = '', instance = 'a'): Pick<Scene, 'script' | 'keys' | 'args'> => ({
  script: acquireSharedScript,
  keys: both,
  args: [instance, '', `0 ${BOTH}`, share(limit), share(limit)],
});
const release = {
  script: releaseScript,
  keys: both,
  args: ['a', BOTH, '6', '5'],
  owner: 'a:5',
  ownerOfOther: 'a:6',
};
const releaseOne = { ...release, keys: [FENCE, N.lock, N.queue], args: ['a', BOTH, '5'] };
const releaseShared = {
  script: releaseByOwnerScript,
  keys: single,
  args: [BOTH, 'a~s1:1'],
  owner: 'shared',
};
const yielding = {
  script: yieldScript,
  keys: single,
  args: ['a:5', PREFIXES, 'a|3000|2', TTL, 2],
  owner: 'a:5',
};
const nodeAcquire = { script: quorumAcquireScript, keys: node, args: ['a', 100, 101, TTL, 'a|7', 600_000] };
const nodeRelease = {
  script: quorumReleaseScript,
  keys: node,
  args: ['a', 100, 'wake', '', 'lock:inbox:', 300, 'n'],
  owner: 'a:100',
};
const atNode = ['gone', PLACES.atNode];

const SCENES: Readonly<Record<string, Scene>> = {
  'acquire, free': acquire('a'),
  'acquire, taken': { ...acquire('a'), owner: 'b:5', waiting: [PLACES.alone] },
  'acquire, granted before': { ...acquire('a'), owner: 'a:5', waiting: ['a|3000|2'] },
  'acquire, ended here': { ...acquire('a', 9), owner: 'a:5', waiting },
  'acquire, behind others': { ...acquire('a'), waiting },
  'acquire, behind sharers': { ...acquire('a'), waiting: [PLACES.sharing, PLACES.alone] },
  'acquire, next': { ...acquire('a'), waiting: ['a|3000|2', ...waiting] },
  'acquire-shared, free': acquireShared(),
  'acquire-shared, taken': { ...acquireShared(), owner: 'b:5' },
  'acquire-shared, shared': { ...acquireShared(), owner: 'shared', holders: { 'b~s1:1': TTL } },
  'acquire-shared, granted before': {
    ...acquireShared(),
    owner: 'shared',
    holders: { 'a~s1:1': 1_000, 'b~s1:1': 900 },
    waiting: ['a|3000|3|s1'],
  },
  'acquire-shared, partly': { ...acquireShared('of2'), owner: 'shared', holders: { 'b~s1:1': TTL } },
  'acquire-shared, with holders that are over': {
    ...acquireShared('of2'),
    owner: 'shared',
    holders: { 'b~s1:1': TTL, 'c~s1:1': '-1000.5' },
    waiting: [PLACES.limited],
  },
  'acquire-shared, behind others': { ...acquireShared(), waiting },
  'acquire-shared, behind one alone': {
    ...acquireShared(),
    owner: 'shared',
    holders: { 'b~s1:1': TTL },
    waiting,
  },
  release,
  'release, others wait': { ...release, waiting },
  'release, sharers wait': { ...release, waiting: [PLACES.sharing, 'v|3000|1|s1', PLACES.alone] },
  'release, one that let a claim lease expire waits': {
    ...release,
    holders: { 'w~s1of2:1': '-1000.5' },
    waiting: [PLACES.limited, PLACES.alone],
  },
  'release, sharers wait and modes are unknown': {
    ...release,
    keys: [FENCE, M.lock, M.queue, N.lock, N.queue],
    waiting: [PLACES.sharing],
  },
  'release, of one lock': releaseOne,
  'release, of one lock for which somebody waits': { ...releaseOne, waiting: [PLACES.alone, 'v|3000|1'] },
  'release, of one lock with a place that is left': { ...releaseOne, waiting },
  'release, of one lock that others would share': { ...releaseOne, waiting: [PLACES.sharing] },
  'release, others wait in a Cluster': {
    ...release,
    keys: [`${N.lock}:fence`, N.lock, N.queue],
    args: ['a', `${'lock:'.length} ${N.lock}:inbox:`, '5'],
    waiting,
  },
  'release-by-owner, the last': { ...releaseShared, holders: { 'a~s1:1': TTL }, waiting },
  'release-by-owner, with others': {
    ...releaseShared,
    holders: { 'a~s1:1': TTL, 'b~s1:1': 900 },
    waiting: [PLACES.limited],
  },
  'release-by-owner, an exclusive hold that was moved': {
    ...releaseShared,
    args: [BOTH, 'b~0f:5'],
    owner: 'b~0f:5',
    waiting: [PLACES.sharing, ...waiting],
  },
  'cancel, alone': {
    script: cancelScript,
    keys: single,
    args: ['a', 'a|3000|1', PREFIXES],
    owner: 'a:5',
    waiting: ['a|3000|1', PLACES.alone],
  },
  'cancel, shared': {
    script: cancelScript,
    keys: single,
    args: ['a', 'a|3000|2|s1of2', PREFIXES, 0, 's1'],
    owner: 'shared',
    holders: { 'a~s1:1': TTL, 'b~s1:1': 900 },
    waiting: ['a|3000|1|s1', PLACES.limited],
  },
  'yield, kept': yielding,
  'yield, handed': { ...yielding, waiting },
  'yield, with a gap': { ...yielding, args: ['a:5', PREFIXES, 'a|3000|2', 'gap', '7 0'], waiting },
  'force-release, alone': {
    script: forceReleaseScript,
    keys: single,
    args: [PREFIXES, 'lock:inbox:'],
    owner: 'v:5',
    waiting,
  },
  'force-release, shared': {
    script: forceReleaseScript,
    keys: single,
    args: [PREFIXES, 'lock:inbox:'],
    owner: 'shared',
    holders: { 'v~s1:1': TTL },
    waiting: [PLACES.sharing],
  },
  'keep, others wait': {
    script: keepScript,
    keys: [FENCE, N.lock, N.queue, N.shared, `${N.lock}:done`],
    args: ['a:5', 5, TTL, '{}', PREFIXES, 'hold'],
    owner: 'a:5',
    waiting,
  },
  'keep and release, others wait': {
    script: keepScript,
    keys: [FENCE, N.lock, N.queue, N.shared, `${N.lock}:done`],
    args: ['a:5', 5, TTL, '{}', PREFIXES, 'release'],
    owner: 'a:5',
    waiting,
  },
  extend: {
    script: extendScript,
    keys: [M.lock, M.shared, N.lock, N.shared],
    args: ['b:6', 50_000, 'a:5', 50_000],
    owner: 'a:5',
    ownerOfOther: 'b:6',
  },
  'extend, shared': {
    script: extendScript,
    keys: [N.lock, N.shared],
    args: ['a~s1:1', 50_000],
    owner: 'shared',
    holders: { 'a~s1:1': TTL, 'b~s1:1': 900 },
  },
  'extend, for replicas': {
    script: extendScript,
    keys: [M.lock, M.shared, N.lock, N.shared],
    args: ['b:6', 50_000, 'a~s1:1', 50_000, 'write'],
    owner: 'shared',
    holders: { 'a~s1:1': TTL },
    ownerOfOther: 'b:6',
  },
  transfer: {
    script: transferScript,
    keys: [N.lock, N.shared],
    args: ['a:5', 'b~0f:5', TTL],
    owner: 'a:5',
  },
  'transfer, shared': {
    script: transferScript,
    keys: [N.lock, N.shared],
    args: ['a~s1:1', 'b~s1xf:5', 50_000],
    owner: 'shared',
    holders: { 'a~s1:1': TTL },
  },
  'quorum-acquire, free': { ...nodeAcquire, waiting: ['a'] },
  'quorum-acquire, taken': { ...nodeAcquire, owner: 'b:5' },
  'quorum-release': nodeRelease,
  'quorum-release, others wait': { ...nodeRelease, waiting: atNode },
  'quorum-release, to leave': {
    ...nodeRelease,
    args: ['a', 100, 'wake', 'cancel', 'lock:inbox:', 300, 'n'],
    waiting: ['a', ...atNode],
  },
  'quorum-release, to queue again': {
    ...nodeRelease,
    args: ['a', 100, 'wake', 'a|7', 'lock:inbox:', 300, 'n'],
  },
  'quorum-release, forced': {
    ...nodeRelease,
    args: ['v:5', 0, 'revoke', '', 'lock:inbox:', 300, 'n'],
    owner: 'v:5',
    waiting: atNode,
  },
};

const COMMANDS = [
  ...['get', 'set', 'del', 'exists', 'time', 'pttl', 'pexpire', 'pexpireat', 'publish', 'spublish'],
  ...['zadd', 'zrem', 'zpopmin', 'zrange', 'zcard', 'zscore'],
];
const OTHER_TYPES: Readonly<Record<string, string>> = {
  'the counter': FENCE,
  'the counter of the name': `${N.lock}:fence`,
  'the lock': N.lock,
  'the queue': N.queue,
  'the shared holders': N.shared,
};

describe('A script for which Redis rejects', () => {
  const server = duringTests(() => RedisServer.start());
  let admin: Redis;
  let user: Redis;

  beforeAll(async () => {
    admin = server.client();
    await allow();
    user = server.client({ username: 'user', password: 'secret' });
    const listener = server.client();
    await listener.subscribe('lock:inbox:w', 'lock:inbox:v');
    await server.client().ssubscribe(`${N.lock}:inbox:w`);
  });

  const allow = (...rights: readonly string[]): Promise<unknown> =>
    admin.call('ACL', 'SETUSER', 'user', 'reset', 'on', '>secret', '~*', '&*', '+@all', ...rights);

  const prepare = async ({ owner, holders, waiting: places = [], ownerOfOther }: Scene): Promise<void> => {
    await admin.flushall();
    if (owner !== undefined) await admin.set(N.lock, owner, 'PX', TTL);
    if (ownerOfOther !== undefined) await admin.set(M.lock, ownerOfOther, 'PX', TTL);
    for (const [holder, lasts] of Object.entries(holders ?? {})) {
      const end = typeof lasts === 'number' ? Date.now() + lasts : `${Date.now() + parseInt(lasts)}.5`;
      await admin.zadd(N.shared, end, holder);
    }
    for (const [i, place] of places.entries()) await admin.zadd(N.queue, i, place);
  };

  /** What is kept of a name; the counters may grow without harm. */
  const kept = async (name: Name): Promise<unknown> =>
    Promise.all(
      keysOf(name).map(async (key) => [await admin.dump(key), Number(await admin.call('PEXPIRETIME', key))]),
    );

  const run = ({ script, keys, args }: Scene): Promise<unknown> =>
    user
      .eval(script.lua, keys.length, ...keys, ...(script.takesSeveral ? [args.length] : []), ...args)
      .catch((error: unknown) => error);

  /** What a script that failed has changed: the names that it refused although it had written something of them. */
  const halfDone = async (scene: Scene): Promise<readonly string[]> => {
    const before = [await kept(M), await kept(N)];
    const reply = await run(scene);
    const after = [await kept(M), await kept(N)];
    const changed = (i: number): boolean => JSON.stringify(before[i]) !== JSON.stringify(after[i]);
    const failed = (i: number): boolean =>
      reply instanceof Error || (Array.isArray(reply) && reply[reply.length - 2 + i] instanceof Error);
    return ['m', 'n'].filter((_, i) => failed(i) && changed(i)).map((name) => `${name}: ${String(reply)}`);
  };

  it.each(Object.entries(SCENES))('a command, has written nothing or succeeds: %s', async (_what, scene) => {
    const found: unknown[] = [];
    for (const command of COMMANDS) {
      await prepare(scene);
      await allow(`-${command}`);
      const half = await halfDone(scene);
      if (half.length > 0) found.push([command, half]);
    }

    expect(found).toEqual([]);
  });

  it.each(Object.entries(SCENES))('a channel, succeeds: %s', async (_what, scene) => {
    await prepare(scene);
    await allow('resetchannels');
    const reply = await run(scene);

    expect(reply).not.toBeInstanceOf(Error);
    expect([reply].flat().filter((each) => each instanceof Error)).toEqual([]);
  });

  it.each(Object.entries(SCENES))(
    'a key of another type, has written nothing or succeeds: %s',
    async (_what, scene) => {
      await allow();
      const found: unknown[] = [];
      for (const [what, key] of Object.entries(OTHER_TYPES)) {
        await prepare(scene);
        await admin.del(key);
        await admin.hset(key, 'of', 'others');
        const half = await halfDone(scene);
        if (half.length > 0) found.push([what, half]);
      }

      expect(found).toEqual([]);
    },
  );

  it.each(Object.entries(SCENES))('memory, has written nothing or succeeds: %s', async (_what, scene) => {
    await allow();
    await prepare(scene);
    await admin.config('SET', 'maxmemory', 1);
    try {
      expect(await halfDone(scene)).toEqual([]);
    } finally {
      await admin.config('SET', 'maxmemory', 0);
    }
  });
});
