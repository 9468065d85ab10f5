import { Labels } from '../../../lib/engine/hold/labels.js';
import { SilentHolders } from '../../../lib/engine/hold/silent-holders.js';
import type { Taken } from '../../../lib/store/grant.js';
import { QUIET } from '../../support/quiet.js';
import { ManualClock } from './manual-clock.js';
import { ScriptedStore } from './scripted-store.js';

const HOLDER = 'web-7-v1-0123456789ab';
const OTHER = 'web-8-v1-0123456789ab';

describe('A holder that others wait for', () => {
  let clock: ManualClock;
  let silentHolders: SilentHolders;
  let waited: [name: string, taken: Taken][];
  let answers: boolean;
  let isRefused: boolean;
  /** Seconds of the waits at which an instance was asked, and the store. */
  let asked: [second: number, instance: string][];
  let queried: number[];
  let lines: string[];

  const second = (): number => Math.round(clock.now() / 1_000) - 1;
  const taken = (owner: string, remaining: number): Taken => ({ owner, remaining, tokenFloor: 0 });

  beforeEach(() => {
    [clock, waited, answers, isRefused, asked, queried, lines] = [
      new ManualClock(),
      [],
      true,
      false,
      [],
      [],
      [],
    ];
    const scripted = new ScriptedStore();
    const store = Object.assign(scripted, {
      send: async (instance: string, message: string) => {
        const [, , question] = message.split(' ');
        if (asked.at(-1)?.[0] !== second()) asked.push([second(), instance]);
        if (isRefused) throw new Error('NOPERM');
        if (answers) setImmediate(() => labels.handle(`labels ${question} ["Orders.pay"]`));
        return true;
      },
      operations: {
        ...scripted.operations,
        query: async (name: string) => {
          queried.push(second());
          const held = [{ name, mode: 'exclusive' as const, owner: `${HOLDER}:1`, remaining: 20_000 }];
          return { held, pending: [] };
        },
      },
    });
    const labels = new Labels('me', clock, store, () => undefined);
    const log = { ...QUIET, warn: (line: string) => lines.push(line) };
    silentHolders = new SilentHolders(clock, store, labels, log, () => waited);
  });
  afterEach(() => silentHolders.stop());

  const pass = async (seconds: number): Promise<void> => {
    for (let i = 0; i < 10 * seconds; i++) await clock.advance(100);
  };

  it.each([
    { lease: 60_000, at: [6, 21, 36] },
    { lease: 20_000, at: [6, 16, 26, 36] },
    { lease: 6_000, at: [6, 11, 16, 21, 26, 31, 36] },
  ])(
    'is asked again when half of its lease of $lease ms is left, and the store is not',
    async ({ lease, at }) => {
      waited = [['n', taken(`${HOLDER}:1`, lease)]];
      silentHolders.start();
      await pass(40);

      expect(asked).toEqual(at.map((each) => [each, HOLDER]));
      expect(queried).toEqual([]);
    },
  );

  it('is asked again after 5 s if the server refuses the question', async () => {
    isRefused = true;
    waited = [['n', taken(`${HOLDER}:1`, 60_000)]];
    silentHolders.start();
    await pass(20);

    expect(asked.map(([each]) => each)).toEqual([6, 11, 16]);
  });

  it('is not asked before it has kept the lock for 5 s', async () => {
    silentHolders.start();
    for (let token = 1; token < 10; token++) {
      waited = [['n', taken(`${token % 2 ? HOLDER : OTHER}:${token}`, 60_000)]];
      await pass(4);
    }

    expect([asked, queried]).toEqual([[], []]);
  });

  it('is reported two seconds after it falls silent, with the lease that the store still keeps', async () => {
    waited = [['n', taken(`${HOLDER}:1`, 20_000)]];
    silentHolders.start();
    await pass(10);
    answers = false;
    await pass(8);
    expect(lines).toEqual([]);
    await pass(1);

    expect(queried).toEqual([17, 18]);
    expect(lines).toEqual([
      `Lock "n" is blocked: Orders.pay in ${HOLDER} has not answered for 2 s. ` +
        'Callers of this instance wait until the lease ends, in 20 s unless renewed.',
    ]);
  });
});
