import { Deadlines, type Timed } from '../../../lib/primitives/deadlines.js';
import { ManualClock } from '../engine/manual-clock.js';

class Item implements Timed {
  deadline: Timed['deadline'];

  constructor(
    readonly name: string,
    readonly due: number,
  ) {}
}

describe('Deadlines', () => {
  let clock: ManualClock;
  let deadlines: Deadlines<Item>;
  let expired: string[];
  let start: number;

  beforeEach(() => {
    clock = new ManualClock();
    start = clock.now();
    expired = [];
    deadlines = new Deadlines(clock, ({ name }) => expired.push(`${name} at ${clock.now() - start}`));
  });

  const add = (name: string, after: number): Item => {
    const item = new Item(name, start + after);
    deadlines.add(item);
    return item;
  };

  it.each<[string, number[], string[]]>([
    ['in order', [10, 20, 30], ['0 at 10', '1 at 20', '2 at 30']],
    ['in reverse', [30, 20, 10], ['2 at 10', '1 at 20', '0 at 30']],
    ['in any order', [50, 10, 40, 20, 30], ['1 at 10', '3 at 20', '4 at 30', '2 at 40', '0 at 50']],
    ['with equal ends', [20, 10, 20, 10], ['1 at 10', '3 at 10', '0 at 20', '2 at 20']],
    ['that have ended', [-5, 10], ['0 at 0', '1 at 10']],
    ['without an end', [Infinity, 10], ['1 at 10']],
  ])('end at their time when items come %s', async (_, ends, expected) => {
    ends.forEach((end, i) => add(String(i), end));
    await clock.advance(100);

    expect(expired.toSorted()).toEqual(expected.toSorted());
    expect(expired.map((each) => each.split(' at ')[1])).toEqual(
      expected.map((each) => each.split(' at ')[1]),
    );
    expect(deadlines.size).toBe(0);
  });

  it('end for those only that have not left, and can come again', async () => {
    const [first, second, third] = [add('first', 10), add('second', 20), add('third', 30)];
    deadlines.delete(first);
    deadlines.delete(third);
    deadlines.delete(third);
    expect(deadlines.size).toBe(1);
    deadlines.add(second);
    deadlines.add(third);
    expect(deadlines.size).toBe(2);
    await clock.advance(100);

    expect(expired).toEqual(['second at 20', 'third at 30']);
    expect(second.deadline).toBeUndefined();
    expect(deadlines.size).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('end at their time after a longer one was waited for', async () => {
    add('long', 1_000);
    await clock.advance(5);
    add('short', 15);
    await clock.advance(10);

    expect(expired).toEqual(['short at 15']);
  });

  it.each([
    ['that all stay', 1],
    ['of which most leave', 50],
  ])('end at their time for each of hundreds %s', async (_, staying) => {
    const items = Array.from({ length: 500 }, (_each, i) => add(String(i), 1_000 - ((i * 37) % 500)));
    for (const [i, item] of items.entries()) if (i % staying !== 0) deadlines.delete(item);
    const expected = items
      .filter((_each, i) => i % staying === 0)
      .toSorted((a, b) => a.due - b.due)
      .map(({ name, due }) => `${name} at ${due - start}`);
    expect(deadlines.size).toBe(expected.length);
    await clock.advance(1_000);

    expect(expired).toEqual(expected);
    expect(items.every(({ deadline }) => deadline === undefined)).toBe(true);
  });

  it('call nothing back when they are stopped', async () => {
    add('first', 10);
    deadlines.stop();
    await clock.advance(100);

    expect(expired).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});
