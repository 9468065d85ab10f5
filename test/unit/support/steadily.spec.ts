import { steadily } from '../../support/steadily.js';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds of standing still that no machine comes near by itself. */
const AGES = 60_000;

describe('A measure', () => {
  const standStill = async (): Promise<void> => {
    await sleep(1);
    const until = performance.now() + 200;
    while (performance.now() < until);
  };

  it('that fails while the machine runs is not taken again', async () => {
    const rounds: number[] = [];
    const measure = async (round: number): Promise<void> => {
      rounds.push(round);
      throw new Error('too late');
    };
    await expect(steadily(AGES, measure)).rejects.toThrow('too late');
    expect(rounds).toEqual([1]);
  });

  it('that fails while the machine stands still is taken again', async () => {
    const rounds: number[] = [];
    const measure = async (round: number): Promise<string> => {
      rounds.push(round);
      await standStill();
      if (round < 3) throw new Error('too late');
      return 'in time';
    };
    expect(await steadily(100, measure)).toBe('in time');
    expect(rounds).toEqual([1, 2, 3]);
  });

  it('that fails while its server stands still is taken again', async () => {
    const answered = sleep(300);
    const rounds: number[] = [];
    const measure = async (round: number): Promise<void> => {
      rounds.push(round);
      await sleep(200);
      if (round === 1) throw new Error('too late');
    };
    await steadily(100, measure, () => answered);
    expect(rounds).toEqual([1, 2]);
  });

  it('fails by itself, not by the server that has ended', async () => {
    const measure = async (): Promise<void> => {
      await sleep(50);
      throw new Error('too late');
    };
    const ended = (): never => {
      throw new Error('ended');
    };
    await expect(steadily(AGES, measure, ended)).rejects.toThrow('too late');
  });

  it('that always fails fails at last, however long the machine stands still', async () => {
    const measure = async (): Promise<void> => {
      await standStill();
      throw new Error('too late');
    };
    await expect(steadily(100, measure)).rejects.toThrow('too late');
  });

  it('that succeeds is taken once', async () => {
    const rounds: number[] = [];
    await steadily(0, async (round) => void rounds.push(round));
    expect(rounds).toEqual([1]);
  });
});
