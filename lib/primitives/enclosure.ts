import { AsyncLocalStorage } from 'node:async_hooks';
import { inRootContext } from './root-context.js';

/**
 * What Node keeps for each timer, socket and Promise that code inside an {@link Enclosure} creates. A timer may live for
 * hours, so a cell loses its content when the enclosure ends.
 */
class Cell {
  constructor(
    /** A cell if the enclosure has several: they share the content of the first one. */
    public content: Enclosure | Cell | undefined,
    public outer: Cell | undefined,
  ) {}

  get enclosure(): Enclosure | undefined {
    return this.content instanceof Cell ? this.content.enclosure : this.content;
  }
}

/** The only one of the process: before Node 24, each storage that is in use slows down every `await`. */
const storage = new AsyncLocalStorage<Cell>();
let users = 0;

/** The given cell, or the innermost one around it, whose enclosure has not ended, and does not remain of another one. */
function openFrom(cell: Cell | undefined): Cell | undefined {
  let found = cell;
  while (found !== undefined && found.enclosure?.isRest !== false) found = found.outer;
  return found;
}

/**
 * The innermost open cell around the running code. The cells outside it no longer refer to cells of ended enclosures,
 * because work that schedules its next run while it holds a lock would otherwise add one cell for each run.
 */
function currentCell(): Cell | undefined {
  const innermost = openFrom(storage.getStore());
  for (let cell = innermost; cell !== undefined; cell = cell.outer) cell.outer = openFrom(cell.outer);
  return innermost;
}

/**
 * Something around running code, by async context, until it ends: the invocation of a handler, or a lock.
 *
 * Code that outlives an enclosure does not find it any more. It still finds the outer enclosures.
 */
export abstract class Enclosure {
  /** Its first cell, or a cell of what takes its place. One field, because a timer may keep the enclosure for hours. */
  private cell: Cell | undefined;

  /** Counts a user of enclosures, until the returned function is called. Without users, no `await` costs more. */
  static use(): () => void {
    users += 1;
    let isUsed = true;
    return () => {
      if (!isUsed) return;
      isUsed = false;
      users -= 1;
      if (users === 0) inRootContext(() => storage.disable());
    };
  }

  /** The first result of `select` that is not undefined, for the enclosures of the running code from inside out. */
  static find<T>(select: (enclosure: Enclosure) => T | undefined): T | undefined {
    for (let cell = storage.getStore(); cell !== undefined; cell = cell.outer) {
      const { enclosure } = cell;
      const found = enclosure && select(enclosure);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Returns a function that runs work inside the enclosures that are around the running code now, and no others. */
  static capture(): <T>(work: () => T) => T {
    const cell = currentCell();
    return (work) => (cell === undefined ? storage.exit(work) : storage.run(cell, work));
  }

  /** Runs `work` inside this enclosure, or inside what remains of it. */
  run<T>(work: () => T): T {
    if (this.hasEnded) return this.cell?.enclosure === undefined ? work() : this.cell.enclosure.run(work);
    const outer = currentCell();
    if (outer?.enclosure === this) return work();
    this.cell ??= new Cell(this, outer);
    return storage.run(this.cell.outer === outer ? this.cell : new Cell(this.cell, outer), work);
  }

  /** @internal Whether this enclosure takes the place of an ended one. */
  get isRest(): boolean {
    return false;
  }

  private get hasEnded(): boolean {
    return this.cell !== undefined && this.cell.content !== this;
  }

  /** Whether this enclosure is around the running code. */
  get isAround(): boolean {
    return Enclosure.find((each) => each === this || undefined) === true;
  }

  /** Whether the running code is inside this enclosure, and began in none inside it. */
  get isInnermost(): boolean {
    return storage.getStore()?.enclosure === this;
  }

  /**
   * Runs `work` inside this enclosure and those that were around its first run, without those around the caller. For a
   * caller in the async context of other work, such as the callback of a pool.
   */
  restore<T>(work: () => T): T {
    return this.cell === undefined || this.hasEnded ? this.run(work) : storage.run(this.cell, work);
  }

  /**
   * Ends this enclosure for all code inside it.
   *
   * @param rest takes its place.
   */
  end(rest?: Enclosure): void {
    if (this.cell !== undefined) this.cell.content = rest;
    this.cell = new Cell(rest, undefined);
  }
}
