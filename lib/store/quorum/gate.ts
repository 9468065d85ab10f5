import type { Clock } from '../../primitives/clock.js';
import { Fifo, type FifoNode } from '../../primitives/fifo.js';
import { isRefusal } from '../store-errors.js';

/** Bounds of the number of parallel contests. */
const WIDTH = { first: 64, least: 8, most: 256 };
/** Growth after each decided contest: fast enough for distant nodes, too slow to overload them. */
const GROWTH = 1 / 8;
/** Milliseconds for which the slot of a contest without a majority stays empty. */
const REST = 50;

interface Waiting extends FifoNode<Waiting> {
  readonly enter: () => void;
}

/**
 * Admits as many parallel contests as the nodes answer in time, and the others in arrival order.
 *
 * All at once would keep the nodes busy beyond their time: no contest would be decided, and retries would add to the
 * load. Each contest without a majority therefore halves the number.
 */
export class Gate {
  private width = WIDTH.first;
  private inside = 0;
  private readonly line = new Fifo<Waiting>();

  constructor(private readonly clock: Clock) {}

  async pass<T>(contend: () => Promise<T>): Promise<T> {
    if (this.inside < this.width) this.inside++;
    else await new Promise<void>((enter) => this.line.push({ enter, previous: undefined, next: undefined }));
    try {
      const decided = await contend();
      this.width = Math.min(this.width + GROWTH, WIDTH.most);
      this.exit();
      return decided;
    } catch (error) {
      if (isRefusal(error)) this.exit();
      else {
        this.width = Math.max(this.width / 2, WIDTH.least);
        this.clock.schedule(() => this.exit(), REST);
      }
      throw error;
    }
  }

  private exit(): void {
    this.inside--;
    for (let { first } = this.line; first && this.inside < this.width; { first } = this.line) {
      this.inside++;
      this.line.remove(first);
      first.enter();
    }
  }
}
