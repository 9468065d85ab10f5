import { resolve } from 'node:path';

const LIB = resolve(__dirname, '../../lib');
/** Milliseconds within which a timer ends by itself. */
const SOON = 50;

/** The timers that the module has set and that have neither run nor been cleared. */
export class LiveTimers {
  /** By timer: the line that set it. */
  private readonly live = new Map<unknown, Error>();
  private readonly original = { setTimeout, clearTimeout, setInterval, clearInterval };

  /** Watches the timers from now on. */
  constructor() {
    const { original } = this;
    const cleared = (clear: typeof clearTimeout) => (timer?: NodeJS.Timeout) => {
      this.live.delete(timer);
      clear(timer);
    };
    Object.assign(globalThis, {
      setTimeout: this.watched(original.setTimeout, false),
      setInterval: this.watched(original.setInterval as typeof setTimeout, true),
      clearTimeout: cleared(original.clearTimeout),
      clearInterval: cleared(original.clearInterval),
    });
  }

  /** The lines of the module whose timers are still there. */
  left(): string[] {
    const callers = [...this.live.values()].map(({ stack = '' }) => stack.split('\n')[2] ?? '');
    return callers.filter((caller) => caller.includes(LIB));
  }

  /** Watches no more. */
  end(): void {
    Object.assign(globalThis, this.original);
    this.live.clear();
  }

  private watched(set: typeof setTimeout, isRepeated: boolean): typeof setTimeout {
    const watching = (call: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): NodeJS.Timeout => {
      const run = (): void => {
        if (!isRepeated) this.live.delete(timer);
        call(...args);
      };
      const timer = set(run, ms);
      if (isRepeated || ms > SOON) this.live.set(timer, new Error('The timer was set here'));
      return timer;
    };
    return Object.assign(watching, set);
  }
}
