import type { Clock } from '../../../primitives/clock.js';
import { Fifo, type FifoNode } from '../../../primitives/fifo.js';
import { WakeUp } from '../../../primitives/wake-up.js';
import type { LuaScript } from '../../scripts/lua-script.js';
import type { Redaction } from './redaction.js';
import type { RedisClient, ScriptArguments } from './redis-client.js';
import { storeError } from './redis-error.js';

/** Where scripts run, and what is known of it when no answer comes. */
export interface ScriptConnection {
  readonly commands: Pick<RedisClient, 'evaluate'>;
  readonly redaction: Redaction;
  readonly trouble: Error;
  /** Whether scripts have to be sent as text. */
  readonly needsText: boolean;
  replaceSilent(): void;
  /** Looks for the master anew where an error says that the server is not it any more. */
  leaveIfDemoted(error: Error): void;
}

/** How a store runs scripts. */
export type Scripts = Pick<ScriptRunner, 'isIdle' | 'run' | 'runPatiently' | 'serverOf'>;

/** A script to run, with what it runs on. */
interface ScriptCall {
  readonly script: LuaScript;
  readonly keys: readonly string[];
  readonly args: ScriptArguments;
}

/** A call that was sent. */
class SentCall implements FifoNode<SentCall> {
  previous: SentCall | undefined;
  next: SentCall | undefined;
  isPending = false;
  /** Since when it has waited for a sign of life. */
  since = -Infinity;
  due = Infinity;

  constructor(
    readonly resolve: (reply: unknown) => void,
    readonly reject: (error: Error) => void,
    /** Ends the wait for the answer at `due`; undefined where it is waited for however long it takes. */
    readonly expire: (() => void) | undefined,
  ) {}
}

/** Runs scripts on Redis, and notices when no answers come. */
export class ScriptRunner {
  /** In the order of their time, since all have the same time to answer. */
  private readonly pending = new Fifo<SentCall>();
  private readonly wakeUp: WakeUp;
  private answeredAt = -Infinity;

  constructor(
    private readonly connection: ScriptConnection,
    private readonly clock: Clock,
    private readonly commandTimeout: number,
  ) {
    this.wakeUp = new WakeUp(clock, () => clock.afterInput(() => this.expire(clock.now())));
  }

  /** Whether no call waits for its answer. */
  get isIdle(): boolean {
    return this.pending.size === 0;
  }

  /** Tells servers apart, whose clocks may differ. */
  serverOf(_keys: readonly string[]): string {
    return '';
  }

  /** Rejects when no answer comes within the command timeout. */
  run(script: LuaScript, keys: readonly string[], args: ScriptArguments): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const expire = (): void =>
        reject(
          new Error(`Redis did not answer ${script.name} within ${this.commandTimeout} ms.`, {
            cause: this.connection.trouble,
          }),
        );
      this.send({ script, keys, args }, this.expect(resolve, reject, expire));
    });
  }

  /** Waits for the answer however long it takes: for requests whose late answer would be a grant that nobody knows of. */
  runPatiently(script: LuaScript, keys: readonly string[], args: ScriptArguments): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.send({ script, keys, args }, this.expect(resolve, reject));
    });
  }

  private expect(
    resolve: (reply: unknown) => void,
    reject: (error: Error) => void,
    expire?: () => void,
  ): SentCall {
    const call = new SentCall(resolve, reject, expire);
    this.watch(call, this.clock.now());
    return call;
  }

  private send({ script, keys, args }: ScriptCall, call: SentCall): void {
    const { commands } = this.connection;
    const succeed = (reply: unknown): void => {
      this.noteAnswer(call);
      call.resolve(
        isPartlyRefused(reply)
          ? reply.map((each) => (each instanceof Error ? this.problem(each) : each))
          : reply,
      );
    };
    const fail = (error: unknown): void => {
      this.noteAnswer(call);
      call.reject(this.problem(error));
    };
    const sendText = (): void => void commands.evaluate(script, keys, args, 'text').then(succeed, fail);
    // Some clients would send the digest again on each new connection, for ever.
    if (script.isRare || this.connection.needsText) return sendText();
    commands.evaluate(script, keys, args, 'digest').then(succeed, (error: unknown) => {
      if (error instanceof Error && error.message.startsWith('NOSCRIPT')) sendText();
      else fail(error);
    });
  }

  private problem(error: unknown): Error {
    const problem = storeError(error, this.connection.redaction);
    this.connection.leaveIfDemoted(problem);
    return problem;
  }

  private noteAnswer(call: SentCall): void {
    this.answeredAt = this.clock.now();
    this.forget(call);
  }

  private forget(call: SentCall): void {
    if (call.isPending) this.pending.remove(call);
    call.isPending = false;
  }

  private watch(call: SentCall, now: number): void {
    call.since = now;
    call.due = now + this.commandTimeout;
    call.isPending = true;
    this.pending.push(call);
    this.wakeUp.at(call.due);
  }

  private expire(now: number): void {
    for (const call of this.pending) {
      if (call.due > now) return this.wakeUp.at(call.due);
      this.forget(call);
      if (this.answeredAt < call.since) this.connection.replaceSilent();
      if (call.expire) call.expire();
      // It was sent again on the next connection, which may be silent, too.
      else this.watch(call, now);
    }
  }
}

/** A script that answers several requests has errors in the places of those that Redis refuses. */
function isPartlyRefused(reply: unknown): reply is unknown[] {
  return Array.isArray(reply) && reply.some((each) => each instanceof Error);
}
