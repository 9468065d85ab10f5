import type { Redis } from 'ioredis';
import type { LuaScript } from '../../../lib/store/scripts/lua-script.js';
import type { QuorumNode } from '../../../lib/store/quorum/quorum-node.js';
import type { RedisServer } from '../../support/redis-server.js';

/**
 * - up: answers.
 * - down: does nothing and says so.
 * - mute: does what it is asked, and its answer is lost.
 * - slow: does what it is asked, in order, but not before the next step in which it is not slow.
 */
export type NodeMode = 'up' | 'down' | 'mute' | 'slow';

/** A database that stands for one server of a quorum, and behaves as the step of a test says. */
export class SteppedNode {
  private mode: NodeMode = 'up';
  private line: Promise<unknown> = Promise.resolve();
  private resume: (() => void) | undefined;
  private readonly client: Redis;

  constructor(
    server: RedisServer,
    private readonly db: number,
  ) {
    this.client = server.client({ db });
  }

  become(mode: NodeMode): void {
    this.mode = mode;
    if (mode !== 'slow') {
      this.resume?.();
      this.resume = undefined;
    } else if (!this.resume) {
      const resumed = new Promise<void>((resolve) => (this.resume = resolve));
      this.line = this.line.then(() => resumed);
    }
  }

  /** Loses all that it keeps, after what it has been asked. */
  wipe(): void {
    this.line = this.line.then(() => this.client.flushdb());
  }

  /** What it has been asked is done. */
  async settle(): Promise<void> {
    this.become('up');
    await this.line;
  }

  /** One instance's way to it; its clock is seen `skew` microseconds ahead. */
  seenBy(skew: number): QuorumNode {
    return {
      where: `node ${this.db}`,
      clientPrefix: '',
      listening: false,
      trouble: new Error('It is in the mode of the step.'),
      connect: () => undefined,
      open: () => undefined,
      run: (
        _kind: 'take' | 'end',
        script: LuaScript,
        keys: readonly string[],
        args: readonly (string | number)[],
      ) => this.run(script, keys, args).then((reply) => withSkew(reply, skew)),
      close: () => undefined,
    };
  }

  private run(
    script: LuaScript,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    if (this.mode === 'down') return Promise.reject(new Error('It is down.'));
    const answer = this.line.then(async () => {
      if (!script.takesSeveral) return this.client.eval(script.lua, keys.length, ...keys, ...args);
      const replies = await this.client.eval(script.lua, keys.length, ...keys, args.length, ...args);
      return (replies as unknown[])[0];
    });
    this.line = answer;
    return this.mode === 'mute' ? new Promise(() => undefined) : answer;
  }
}

/** The scripts that grant tell the time second. */
function withSkew(reply: unknown, skew: number): unknown {
  if (!Array.isArray(reply) || reply.length < 3) return reply;
  const [outcome, now, ...rest] = reply as unknown[];
  return [outcome, Number(now) + skew, ...rest];
}
