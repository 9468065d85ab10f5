import { WakeUp } from '../../engine/wake-up.js';
import type { Clock } from '../../engine/clock.js';
import type { LuaScript } from '../../scripts/lua-script.js';
import { StoreRefusal } from '../lock-store.js';
import type { RedisConnection } from './connection.js';
import { Cork } from './cork.js';

/** Errors by which Redis says that asking again is of no use. */
const REFUSAL = /^(NOAUTH|WRONGPASS|NOPERM|WRONGTYPE|ERR (?!max number of clients))/;

interface Pending {
  readonly sentAt: number;
  readonly due: number;
  readonly expire: (() => void) | undefined;
}

/** Runs scripts on Redis, and notices when no answers come. */
export class ScriptRunner {
  private readonly cork: Cork;
  /** In the order of their time, since all have the same time to answer. */
  private readonly pending = new Set<Pending>();
  private readonly wakeUp: WakeUp;
  private answeredAt = -Infinity;

  constructor(
    private readonly connection: RedisConnection,
    private readonly clock: Clock,
    private readonly commandTimeout: number,
  ) {
    this.cork = new Cork(connection.commands);
    this.wakeUp = new WakeUp(clock, () => clock.afterInput(() => this.expire(clock.now())));
  }

  /** Rejects when no answer comes within the command timeout. */
  run<T>(script: LuaScript, keys: readonly string[], args: readonly (string | number)[]): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const expire = (): void =>
        reject(
          new Error(`Redis did not answer ${script.name} within ${this.commandTimeout} ms.`, {
            cause: this.connection.trouble,
          }),
        );
      this.send<T>(script, keys, args, expire).then(resolve, reject);
    });
  }

  /** Waits for the answer however long it takes: for requests whose late answer would be a grant that nobody knows of. */
  runPatiently<T>(
    script: LuaScript,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<T> {
    return this.send(script, keys, args, undefined);
  }

  private async send<T>(
    script: LuaScript,
    keys: readonly string[],
    args: readonly (string | number)[],
    expire: (() => void) | undefined,
  ): Promise<T> {
    const sentAt = this.clock.now();
    const pending: Pending = { sentAt, due: sentAt + this.commandTimeout, expire };
    this.pending.add(pending);
    this.wakeUp.at(pending.due);
    try {
      return (await this.evaluate(script, keys, args)) as T;
    } catch (error) {
      const clean = this.connection.redaction.error(error);
      throw REFUSAL.test(clean.message) ? new StoreRefusal(clean.message, { cause: clean }) : clean;
    } finally {
      this.answeredAt = this.clock.now();
      this.pending.delete(pending);
    }
  }

  private async evaluate(
    script: LuaScript,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    const { commands } = this.connection;
    this.cork.hold();
    try {
      return await commands.evalsha(script.sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return commands.eval(script.lua, keys.length, ...keys, ...args);
    }
  }

  private expire(now: number): void {
    for (const pending of this.pending) {
      if (pending.due > now) return this.wakeUp.at(pending.due);
      this.pending.delete(pending);
      if (this.answeredAt < pending.sentAt) this.connection.replaceSilent();
      pending.expire?.();
    }
  }
}
