import type { Clock } from '../../../primitives/clock.js';
import { Fifo, type FifoNode } from '../../../primitives/fifo.js';
import { AnswerWakeUp } from '../../../primitives/wake-up.js';
import type { LuaScript } from '../../scripts/lua-script.js';
import type { RedisClient, ScriptCall } from './redis-client.js';
import { hasCode, isAnswer } from './redis-error.js';

export interface ScriptConnection {
  readonly commands: Pick<RedisClient, 'cork' | 'evaluate' | 'letMessagesLead'>;
  readonly trouble: Error;
  replaceSilent(): void;
  /** Converts an error of a command for the engine. */
  problemOf(error: unknown): Error;
}

export type RunArguments = [script: LuaScript, keys: readonly string[], args: ScriptCall['args']];

class SentCall implements FifoNode<SentCall> {
  previous: SentCall | undefined;
  next: SentCall | undefined;
  /** Since when it has waited without any reply on its connection. */
  since = -Infinity;
  due = Infinity;

  /** @param expire ends the wait for the reply at `due`; omitted for an unlimited wait */
  constructor(readonly expire?: () => void) {}
}

const same = (reply: unknown): unknown => reply;
const rethrow = (error: Error): never => {
  throw error;
};

/** Runs scripts on one connection, and detects that it is silent. */
export class ScriptRunner {
  /** False if the user lacks the right: the server would log each attempt. */
  private mayLead = true;
  /** In the order of their deadlines, because all have the same timeout. */
  private readonly pending = new Fifo<SentCall>();
  private readonly wakeUp: AnswerWakeUp;
  private answeredAt = -Infinity;
  private replacedAt = -Infinity;

  /** @param corks whether the calls of one tick leave in one packet */
  constructor(
    private readonly connection: ScriptConnection,
    private readonly clock: Clock,
    private readonly commandTimeout: number,
    private readonly corks: boolean,
  ) {
    this.wakeUp = new AnswerWakeUp(clock, (now) => this.expire(now));
  }

  /** Whether no call waits for its reply. */
  get isIdle(): boolean {
    return this.pending.size === 0;
  }

  /** Makes the server send the messages of the next script before its reply, if it can. */
  letMessagesLead(): void {
    if (!this.mayLead) return;
    this.connection.commands.letMessagesLead().catch((error: unknown) => (this.mayLead &&= !isAnswer(error)));
  }

  /** Runs a script. Rejects without a reply within the command timeout. */
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

  /** Runs a script and waits for its reply without limit, because a late reply may be a grant that must be released. */
  runWithoutTimeout(script: LuaScript, keys: readonly string[], args: ScriptCall['args']): Promise<unknown> {
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
    if (this.corks) commands.cork();
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
    if (call.script.isRare) return sendText();
    return commands
      .evaluate(call, 'digest')
      .then(succeed, (error: unknown) => (hasCode(error, 'NOSCRIPT') ? sendText() : fail(error)));
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

  /**
   * Replaces a silent connection. The next one has a whole timeout; otherwise calls that expire in quick succession
   * would replace it repeatedly.
   */
  private replaceSilent(now: number): void {
    if (now < this.replacedAt + this.commandTimeout) return;
    this.replacedAt = now;
    this.connection.replaceSilent();
  }

  private expire(now: number): void {
    for (const call of this.pending) {
      if (call.due > now) return this.wakeUp.at(call.due);
      this.pending.remove(call);
      const isSilent = this.answeredAt <= call.since;
      if (isSilent) this.replaceSilent(now);
      if (call.expire) call.expire();
      // Repeated on the next connection, which may also be silent. Or a reply to an earlier call came since: the
      // connection may have died after it.
      else this.watch(call, isSilent ? now : this.answeredAt);
    }
  }
}

/** Whether the reply of a script for several requests contains errors for some of them. */
function isPartlyRefused(reply: unknown): reply is unknown[] {
  return Array.isArray(reply) && reply.some((each) => each instanceof Error);
}
