import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Whether programs of this machine can be shown another time: on Linux, with a C compiler. */
export const HAS_COMPILER = process.platform === 'linux' && spawnSync('cc', ['--version']).status === 0;

/**
 * Lets a server see another time of day than everybody else; its monotonic clock stays right.
 *
 * @example
 * await using clocks = await WrongClock.compile();
 * const server = await RedisServer.start({ env: clocks.variables({ ahead: 3_600, rate: 1 }) });
 */
export class WrongClock implements AsyncDisposable {
  private constructor(
    private readonly directory: string,
    private readonly library: string,
  ) {}

  static async compile(): Promise<WrongClock> {
    const directory = await mkdtemp(join(tmpdir(), 'nest-redis-lock-'));
    const library = join(directory, 'wrong-clock.so');
    const source = join(__dirname, 'wrong-clock.c');
    await promisify(execFile)('cc', ['-shared', '-fPIC', '-O1', '-o', library, source]);
    return new WrongClock(directory, library);
  }

  /** Variables of a program whose clock is so many seconds ahead when it starts, and goes so many times as fast. */
  variables({ ahead, rate }: { readonly ahead: number; readonly rate: number }): NodeJS.ProcessEnv {
    return { LD_PRELOAD: this.library, CLOCK_AHEAD: String(ahead), CLOCK_RATE: String(rate) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }
}
