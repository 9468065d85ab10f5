import { IN_VAIN } from '../../contract/observe.js';
import { duringTests } from '../../support/during-tests.js';
import { waitFor } from '../../support/wait-for.js';
import type { Instance } from '../../redis/instance.js';
import { ALL, QuorumScene } from './scene.js';

const HOUR = 3_600_000;
/** Microseconds by which a token may differ from the time of its grant. */
const NEAR = 60_000_000;

describe('tokens of a quorum', () => {
  const scene = duringTests(() => QuorumScene.start(), 60_000);
  let tests = 0;
  let name: string;

  afterEach(async () => {
    jest.restoreAllMocks();
    await scene.endInstances();
  });
  beforeEach(() => void (name = `clocks:${(tests += 1)}`));

  const now = async (): Promise<number> => Number((await scene.client(0).time())[0]) * 1_000_000;
  const tokenOf = (instance: Instance, of: string): Promise<number> =>
    instance.locks.using(of, ({ fencingToken }) => fencingToken);
  const counters = (of: string): Promise<number[]> =>
    Promise.all(ALL.map(async (node) => Number(await scene.client(node).get(`lock:{${of}}:fence`))));
  /** Nodes that do not answer by the end of the wait leave its end open, and it is repeated. */
  const waitsInVain = ({ locks }: Instance, of: string): Promise<unknown> =>
    waitFor(
      async () =>
        (await locks.acquire(of, { wait: IN_VAIN }).catch(({ code }) => code as unknown)) === 'LOCK_TIMEOUT',
      { that: 'a wait to end in vain' },
    );

  it('do not follow the wall clock of a holder that is set forward, for no name', async () => {
    const instance = await scene.instance();
    const realNow = Date.now.bind(Date);
    jest.spyOn(Date, 'now').mockImplementation(() => realNow() + HOUR);
    const tokens = await Promise.all([1, 2, 3].map((i) => tokenOf(instance, `${name}:${i}`)));
    await using held = await instance.locks.acquire(name);
    // A wait that ends in vain leaves its mark at the nodes, too.
    const other = await scene.instance();
    await waitsInVain(other, name);

    for (const token of [...tokens, held.fencingToken, ...(await counters(name))])
      expect(Math.abs(token - (await now()))).toBeLessThan(NEAR);
  });

  it('of one name that is far ahead continue to grow, and do not affect other names', async () => {
    const [instance, other] = await Promise.all([scene.instance(), scene.instance()]);
    const ahead = (await now()) + HOUR * 1_000;
    for (const node of ALL) await scene.client(node).set(`lock:{${name}}:fence`, ahead, 'PX', 600_000);
    expect(await tokenOf(instance, name)).toBe(ahead + 1);
    for (const left of await Promise.all(ALL.map((node) => scene.client(node).pttl(`lock:{${name}}:fence`))))
      expect(left).toBeGreaterThan(HOUR + 500_000);

    await using held = await other.locks.acquire(`${name}:other`);
    await waitsInVain(instance, `${name}:other`);
    await waitFor(async () => (await other.locks.query(`${name}:other`)).pending.length === 0);
    for (const counter of await counters(`${name}:other`)) expect(counter).toBeLessThan(ahead - NEAR);
    expect(await tokenOf(instance, `${name}:third`)).toBeLessThan(ahead - NEAR);
    expect(held.held).toBe(true);
  });
});
