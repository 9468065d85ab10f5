import { getHeapSpaceStatistics } from 'node:v8';
import type { LocalQueue } from '../../../lib/engine/queue/local-queue.js';
import { Deadlines, type Timed } from '../../../lib/primitives/deadlines.js';
import { Fifo, type FifoNode } from '../../../lib/primitives/fifo.js';
import { SystemClock } from '../../../lib/primitives/clock.js';
import { collectGarbage } from '../../support/collect-garbage.js';
import { EngineFixture } from './engine-fixture.js';

const AT_ONCE = 5;
const TIMES = 10_000;
const WEIGHT = 1_000;
/** Of the bytes that come and go, so many may get into the old generation: those that are there at a scavenge. */
const MAX_GROWTH = (TIMES * WEIGHT * 8) / 25;

interface Item {
  readonly weight: readonly number[];
}

class Node implements FifoNode<Node>, Timed {
  previous: Node | undefined;
  next: Node | undefined;
  deadline: Timed['deadline'];
  readonly due = Date.now() + 60_000;
  readonly weight = weight();
}

function weight(): readonly number[] {
  return Array.from({ length: WEIGHT }, () => 0.5);
}

/**
 * How much gets into the old generation while items come, and go again, with a few of them there at any time.
 * Only what is added counts: V8 may collect that generation at any time between.
 */
function growth<T extends Item>(
  make: (index: number) => T,
  add: (item: T) => void,
  remove: (item: T) => void,
): number {
  const present: T[] = [];
  const comeAndGo = (index: number): void => {
    const item = make(index);
    add(item);
    if (present.push(item) > AT_ONCE) remove(present.shift() as T);
  };
  for (let i = 0; i < 2 * AT_ONCE; i++) comeAndGo(i);
  // Those that are there now are old from here on.
  collectGarbage();
  let grown = 0;
  let before = oldGeneration();
  for (let i = 0; i < TIMES; i++) {
    comeAndGo(i);
    if (i % 200 !== 0) continue;
    collectGarbage({ type: 'minor' });
    const after = oldGeneration();
    grown += Math.max(0, after - before);
    before = after;
  }
  return grown;
}

function oldGeneration(): number {
  return (
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? NaN
  );
}

describe('Removed entries are not copied into the old generation of the heap', () => {
  test('of the queues of names', () => {
    const { queues } = new EngineFixture().engine;
    const make = (index: number): LocalQueue & Item =>
      ({ record: { name: `n${index}` }, weight: weight() }) as unknown as LocalQueue & Item;
    const grown = growth(
      make,
      (queue) => queues.add(queue),
      (queue) => queues.drop(queue),
    );
    expect(grown).toBeLessThan(MAX_GROWTH);
  });

  test('of the items of a Fifo', () => {
    const line = new Fifo<Node>();
    const grown = growth(
      () => new Node(),
      (node) => line.push(node),
      (node) => line.remove(node),
    );
    expect(grown).toBeLessThan(MAX_GROWTH);
  });

  test('except if each links to the next one, which proves that the test can fail', () => {
    let last = new Node();
    const grown = growth(
      () => new Node(),
      (node) => (last = last.next = node),
      () => undefined,
    );
    expect(grown).toBeGreaterThan(MAX_GROWTH);
  });
});

test('A removed item with a deadline is collected', async () => {
  const deadlines = new Deadlines<Node>(new SystemClock(), () => undefined);
  deadlines.add(new Node());
  let node: Node | undefined = new Node();
  const left = new WeakRef(node);
  deadlines.add(node);
  deadlines.delete(node);
  node = undefined;
  await new Promise((resolve) => void setImmediate(resolve));
  collectGarbage();
  deadlines.stop();
  expect(left.deref()).toBeUndefined();
});
