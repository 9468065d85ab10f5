import { caller, type TimedStep } from './schedule.js';
import { play } from './simulation.js';

const NODE = { ahead: 0, drift: 0 };
const QUORUM = { nodeTimeout: 200, clocks: [NODE, NODE, NODE], dice: [0.5] };

const SHARED = { limit: Infinity };
const PERMIT = { limit: 2 };

const DEAF: TimedStep[] = [0, 1].map((instance) => ({
  after: 0,
  kind: 'deafen',
  instance,
  lasts: 60_000,
  first: 'client',
  lag: 0,
}));

const EXCLUSIVE = { modes: 'exclusive, then exclusive', mine: {}, others: [{}] };
const MODES = [
  EXCLUSIVE,
  { modes: 'exclusive, then shared', mine: {}, others: [SHARED, SHARED] },
  { modes: 'shared, then exclusive', mine: SHARED, others: [{}] },
  { modes: 'permits', mine: PERMIT, others: [PERMIT, PERMIT] },
];
const SERVERS = [
  { where: 'on a quorum', servers: { quorum: QUORUM }, before: [], modes: [EXCLUSIVE] },
  {
    where: 'on one server',
    servers: {},
    before: [],
    modes: MODES,
  },
  {
    where: 'on one server without messages',
    servers: {},
    before: DEAF,
    modes: MODES,
  },
];

describe('A caller that is stopped while its request is on its way', () => {
  it.each(SERVERS.flatMap(({ modes, ...server }) => modes.map((each) => ({ ...server, ...each }))))(
    'does not use its grant after another instance has acquired the lock $where ($modes)',
    async ({ servers, before, mine, others }) => {
      const steps: TimedStep[] = [
        // Both instances connect, and learn the clocks.
        caller({ name: 'y' }),
        caller({ name: 'y', instance: 1 }),
        ...before,
        caller({ ...mine, after: 100, ttl: 1_000, work: 3_000 }),
        { after: 0.5, kind: 'freeze', instance: 0, lasts: 1_600, order: ['replies', 'messages', 'timers'] },
        ...others.map((other, i) => caller({ ...other, after: i ? 0 : 1_400, instance: 1, work: 3_000 })),
      ];
      await expect(play(steps, { budget: { max: 32, window: 1_000 }, ...servers })).resolves.toBeUndefined();
    },
  );
});
