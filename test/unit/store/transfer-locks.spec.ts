import { KeySpace } from '../../../lib/store/redis/key-space.js';
import type { OwnerChange, Transferred } from '../../../lib/store/lock-store.js';
import type { Outbox } from '../../../lib/store/redis/outbox.js';
import { transferLocks } from '../../../lib/store/redis/transfer-locks.js';

const CHANGES = ['a', 'b', 'c'].map((name) => ({ name, from: `x~1:${name}`, to: `y~2:${name}`, ttl: 9 }));

/** Requests to several servers that answer as a test says, in the order in which they were sent. */
function scene() {
  const sent: string[] = [];
  const answers: ((reply: number | Error) => void)[] = [];
  const outbox = {
    maxBatch: 1,
    keySpace: new KeySpace('cluster', 'lock:'),
    runWithoutTimeout: (_script: unknown, [lock = '']: readonly string[]) => {
      sent.push(lock);
      return new Promise((resolve, reject) => {
        answers.push((reply) => (reply instanceof Error ? reject(reply) : resolve(reply)));
      });
    },
  };
  const answer = async (reply: number | Error): Promise<void> => {
    answers.shift()?.(reply);
    await new Promise(setImmediate);
  };
  const transfer = (changes: readonly OwnerChange[], decider: 'first' | 'last'): Promise<Transferred> =>
    transferLocks(outbox as unknown as Outbox, changes, decider);
  return { sent, answer, transfer };
}

describe('A transfer of locks on several servers', () => {
  it('asks for the other names after it has won the first one', async () => {
    const { answer, transfer, sent } = scene();
    const outcome = transfer(CHANGES, 'first');
    expect(sent).toEqual(['lock:{a}']);
    await answer(1);
    expect(sent).toEqual(['lock:{a}', 'lock:{b}', 'lock:{c}']);
    await answer(1);
    await answer(1);
    expect(await outcome).toBe('transferred');
  });

  it.each([
    [0, 'taken'],
    [2, 'gone'],
  ])('asks for no other name if the first one is answered with %d', async (reply, expected) => {
    const { answer, transfer, sent } = scene();
    const outcome = transfer(CHANGES, 'first');
    await answer(reply);
    expect(await outcome).toBe(expected);
    expect(sent).toEqual(['lock:{a}']);
  });

  it.each([0, 2])('is over if another name is answered with %d', async (reply) => {
    const { answer, transfer } = scene();
    const outcome = transfer(CHANGES, 'first');
    await answer(1);
    await answer(1);
    await answer(reply);
    expect(await outcome).toBe('gone');
  });

  it('returns the first name last, so that the next taker finds all', async () => {
    const { answer, transfer, sent } = scene();
    const outcome = transfer(CHANGES, 'last');
    expect(sent).toEqual(['lock:{b}', 'lock:{c}']);
    await answer(1);
    await answer(1);
    expect(sent).toEqual(['lock:{b}', 'lock:{c}', 'lock:{a}']);
    await answer(1);
    expect(await outcome).toBe('transferred');
  });

  it('keeps the first name if another one cannot be returned, and fails with its error', async () => {
    const { answer, transfer, sent } = scene();
    const outcome = transfer(CHANGES, 'last');
    await answer(1);
    const lost = new Error('Connection is closed.');
    await Promise.all([expect(outcome).rejects.toBe(lost), answer(lost)]);
    expect(sent).toEqual(['lock:{b}', 'lock:{c}']);
  });

  it('rejects a reply that no script sends', async () => {
    const { answer, transfer } = scene();
    const outcome = transfer(CHANGES.slice(0, 1), 'first');
    await Promise.all([expect(outcome).rejects.toThrow(), answer(7)]);
  });
});
