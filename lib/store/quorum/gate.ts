import type { Clock } from '../../primitives/clock.js';
import { Fifo, type FifoNode } from '../../primitives/fifo.js';
import { isRefusal } from '../store-errors.js';

/** How many contests may be under way. */
const WIDTH = { first: 64, least: 8, most: 256 };
/** How many more after each that was decided: fast enough where nodes are far away, too slow to overwhelm them. */
const GROWTH = 1 / 8;
/** Milliseconds for which the place of a contest that found no majority stays empty. */
const REST = 50;

interface Waiting extends FifoNode<Waiting> {
  readonly enter: () => void;
}

/**
 * Lets as many contests under way as nodes answer within their time, the others in the order in which they come.
 *
 * All at once they would keep nodes busy for longer than that: none is decided, and what ends them and asks again keeps
 * nodes busier still. So each that finds no majority halves their number.
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
      this.leave();
      return decided;
    } catch (error) {
      if (isRefusal(error)) this.leave();
      else {
        this.width = Math.max(this.width / 2, WIDTH.least);
        this.clock.schedule(() => this.leave(), REST);
      }
      throw error;
    }
  }

  private leave(): void {
    this.inside--;
    for (let { first } = this.line; first && this.inside < this.width; { first } = this.line) {
      this.inside++;
      this.line.remove(first);
      first.enter();
    }
  }
}
