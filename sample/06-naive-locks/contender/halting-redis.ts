import { EventEmitter, once } from 'node:events';
import { Redis } from 'ioredis';

/** A client that can be brought to the state in which a process dies between two commands. */
export class HaltingRedis extends Redis {
  private readonly halts = new EventEmitter();
  private left = Infinity;

  /** From now on only so many commands leave the process; the others wait for ever. */
  haltAfter(commands: number): void {
    this.left = commands;
  }

  /** Resolves at the first command that does not leave the process. */
  async halted(): Promise<void> {
    await once(this.halts, 'halted');
  }

  override sendCommand(...request: Parameters<Redis['sendCommand']>): unknown {
    this.left -= 1;
    if (this.left >= 0) return super.sendCommand(...request);
    this.halts.emit('halted');
    return new Promise(() => {});
  }
}
