import { ScriptRunner } from '../../../lib/store/redis/connection/script-runner.js';
import { luaScript } from '../../../lib/store/scripts/lua-script.js';
import { ManualClock } from '../engine/manual-clock.js';

const TIMEOUT = 1_000;
const script = luaScript('test')`return 1`;

/** A connection that answers a request 100 ms after it was sent, or sent again, and not before it is told to. */
function startRunner(): {
  clock: ManualClock;
  runner: ScriptRunner;
  replaced: number[];
  thaw: () => void;
  /** Loses the next request. */
  lose: () => void;
} {
  const clock = new ManualClock();
  const replaced: number[] = [];
  const unanswered = new Set<(reply: unknown) => void>();
  let frozen = true;
  let isLost = false;
  let sent = 0;
  const send = (answer: (reply: unknown) => void): void => {
    const connection = sent;
    clock.schedule(() => {
      if (frozen || connection !== sent || !unanswered.delete(answer)) return;
      answer(1);
    }, 100);
  };
  const runner = new ScriptRunner(
    {
      commands: {
        evaluate: () =>
          new Promise((answer) => {
            if (!isLost) unanswered.add(answer);
            isLost = false;
            send(answer);
          }),
        cork: () => undefined,
        letMessagesLead: async () => undefined,
      },
      trouble: new Error('silent'),
      problemOf: (error) => error as Error,
      replaceSilent: () => {
        replaced.push(clock.now());
        sent += 1;
        for (const answer of unanswered) send(answer);
      },
    },
    clock,
    TIMEOUT,
    false,
  );
  return { clock, runner, replaced, thaw: () => (frozen = false), lose: () => (isLost = true) };
}

describe('a connection without replies', () => {
  it('is replaced once in each command timeout, however many requests wait', async () => {
    const { clock, runner, replaced } = startRunner();
    for (let i = 0; i < 40; i += 1) {
      void runner.runWithoutTimeout(script, [], []);
      await clock.advance(50);
    }
    await clock.advance(3 * TIMEOUT);

    const pauses = replaced.slice(1).map((at, i) => at - (replaced[i] ?? 0));
    expect(pauses.length).toBeGreaterThan(1);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(TIMEOUT);
  });

  it('has a whole timeout after its replacement, although requests expire in quick succession', async () => {
    const { clock, runner, thaw } = startRunner();
    let answers = 0;
    for (let i = 0; i < 40; i += 1) {
      void runner.runWithoutTimeout(script, [], []).then(() => (answers += 1));
      await clock.advance(50);
    }
    thaw();
    await clock.advance(2 * TIMEOUT);

    expect(answers).toBe(40);
  });

  it('is not replaced because of one request while it answers others', async () => {
    const { clock, runner, replaced, thaw, lose } = startRunner();
    thaw();
    lose();
    void runner.runWithoutTimeout(script, [], []);
    for (let i = 0; i < 50; i += 1) {
      void runner.runWithoutTimeout(script, [], []);
      await clock.advance(TIMEOUT / 20);
    }

    expect(replaced).toEqual([]);
  });
});
