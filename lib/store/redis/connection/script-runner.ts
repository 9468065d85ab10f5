import type { Clock } from '../../../primitives/clock.js';
import { Fifo, type FifoNode } from '../../../primitives/fifo.js';
import { AnswerWakeUp } from '../../../primitives/wake-up.js';
import type { LuaScript } from '../../scripts/lua-script.js';
import type { RedisClient, ScriptCall } from './redis-client.js';
import { isAnswer } from './redis-error.js';

/** Where scripts run, and what is known of it when no answer comes. */
export interface ScriptConnection {
  readonly commands: Pick<RedisClient, 'evaluate' | 'letMessagesLead'>;
  readonly trouble: Error;
  /** Whether scripts have to be sent as text. */
  readonly needsText: boolean;
  replaceSilent(): void;
  /** What Redis or its client says of a command, as the engine may see it. */
  problemOf(error: unknown): Error;
}

/** How a store runs scripts. */
export interface Scripts extends Pick<ScriptRunner, 'isIdle' | 'run' | 'runPatiently' | 'serverOf'> {
  /** Has the server with these keys tell whom the next script tells before it answers that script, where that can be had. */
  letMessagesLead?(keys: readonly string[]): void;
}

export type RunArguments = [script: LuaScript, keys: readonly string[], args: ScriptCall['args']];

/** A call that was sent. */
class SentCall implements FifoNode<SentCall> {
  previous: SentCall | undefined;
  next: SentCall | undefined;
  /** Since when it has waited for a sign of life. */
  since = -Infinity;
  due = Infinity;

  /** @param expire ends the wait for the answer at `due`; left out where it is waited for however long it takes */
  constructor(readonly expire?: () => void) {}
}

const same = (reply: unknown): unknown => reply;
const rethrow = (error: Error): never => {
  throw error;
};

/** Runs scripts on Redis, and notices when no answers come. */
export class ScriptRunner implements Scripts {
  /** Not where it lacks the right: each try would be noted on the server. */
  private mayLead = true;
  /** In the order of their time, since all have the same time to answer. */
  private readonly pending = new Fifo<SentCall>();
  private readonly wakeUp: AnswerWakeUp;
  private answeredAt = -Infinity;
  private replacedAt = -Infinity;

  constructor(
    private readonly connection: ScriptConnection,
    private readonly clock: Clock,
    private readonly commandTimeout: number,
  ) {
    this.wakeUp = new AnswerWakeUp(clock, (now) => this.expire(now));
  }

  /** Whether no call waits for its answer. */
  get isIdle(): boolean {
    return this.pending.size === 0;
  }

  /** Tells servers apart, whose clocks may differ. */
  serverOf(_keys: readonly string[]): string {
    return '';
  }

  letMessagesLead(_keys: readonly string[]): void {
    if (!this.mayLead) return;
    this.connection.commands.letMessagesLead().catch((error: unknown) => (this.mayLead &&= !isAnswer(error)));
  }

  /** Rejects when no answer comes within the command timeout. */
  run(script: LuaScript, keys: readonly string[], args: ScriptCall['args']): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const expire = (): void =>
        reject(
          new Error(`Redis did not answer ${script.name} within ${this.commandTimeout} ms.`, {
            cause: this.connection.trouble,
          }),
        );
      void this.send({ script, keys, args }, new SentCall(expire), resolve, reject);
    });
  }

  /** Waits for the answer however long it takes: for requests whose late answer would be a grant that nobody knows of. */
  runPatiently(script: LuaScript, keys: readonly string[], args: ScriptCall['args']): Promise<unknown> {
    return this.send({ script, keys, args }, new SentCall(), same, rethrow);
  }

  private send(
    call: ScriptCall,
    sent: SentCall,
    answer: (reply: unknown) => unknown,
    refuse: (problem: Error) => unknown,
  ): Promise<unknown> {
    const { commands } = this.connection;
    this.watch(sent, this.clock.now());
    const succeed = (reply: unknown): unknown => {
      this.noteAnswer(sent);
      return answer(
        isPartlyRefused(reply)
          ? reply.map((each) => (each instanceof Error ? this.connection.problemOf(each) : each))
          : reply,
      );
    };
    const fail = (error: unknown): unknown => {
      this.noteAnswer(sent);
      return refuse(this.connection.problemOf(error));
    };
    const sendText = (): Promise<unknown> => commands.evaluate(call, 'text').then(succeed, fail);
    // Some clients would send the digest again on each new connection, for ever.
    if (call.script.isRare || this.connection.needsText) return sendText();
    return commands
      .evaluate(call, 'digest')
      .then(succeed, (error: unknown) =>
        error instanceof Error && error.message.startsWith('NOSCRIPT') ? sendText() : fail(error),
      );
  }

  private noteAnswer(call: SentCall): void {
    this.answeredAt = this.clock.now();
    this.pending.remove(call);
  }

  private watch(call: SentCall, now: number): void {
    call.since = now;
    call.due = now + this.commandTimeout;
    this.pending.push(call);
    this.wakeUp.at(call.due);
  }

  /** The next connection has as much time to answer: calls that expire one soon after the other would replace it for ever. */
  private replaceSilent(now: number): void {
    if (now < this.replacedAt + this.commandTimeout) return;
    this.replacedAt = now;
    this.connection.replaceSilent();
  }

  private expire(now: number): void {
    for (const call of this.pending) {
      if (call.due > now) return this.wakeUp.at(call.due);
      this.pending.remove(call);
      if (this.answeredAt < call.since) this.replaceSilent(now);
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
