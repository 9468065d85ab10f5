import { SHARED_OWNER, type Taken } from '../grant.js';
import { UNTRIED } from '../scripts/functions/hand-off.js';
import type { LuaScript } from '../scripts/lua-script.js';
import { integer, list, text } from './connection/script-reply.js';
import type { KeySpace } from './key-space.js';
import { type BatchContent, ScriptBatch, type SendBatch } from './script-batch.js';
import { ServerTimes } from './server-times.js';
import type { Topology, RedisStoreSettings } from './topology.js';

type Args = readonly (string | number)[];

/** What one instance sends to Redis: what was asked for in a tick goes out at its end, in a call for each script. */
export class Outbox {
  /**
   * Whether anybody is known to share a lock. From then on scripts are given the key of shared holders, too: one more
   * for each lock is felt, so those who know of no modes are spared it.
   */
  private knowsModes = false;
  /** The highest token whose lease has ended here. */
  private spent = 0;
  private isFlushDue = false;
  private readonly batches: ScriptBatch[] = [];
  private readonly times: ServerTimes;

  constructor(
    private readonly topology: Pick<Topology, 'counting' | 'keySpace' | 'maxBatch' | 'scripts'>,
    private readonly settings: Pick<RedisStoreSettings, 'clock' | 'commandTimeout' | 'instance'>,
  ) {
    this.times = new ServerTimes(settings.clock);
  }

  get instance(): string {
    return this.settings.instance;
  }

  get keySpace(): KeySpace {
    return this.topology.keySpace;
  }

  acquires(send: SendBatch): ScriptBatch {
    const batch = new ScriptBatch(send, this.topology.maxBatch);
    this.batches.push(batch);
    return batch;
  }

  /** They go before acquires: an instance may ask again, in the same tick, for what it has just released. */
  releases(send: SendBatch): ScriptBatch {
    const batch = new ScriptBatch(send, this.topology.maxBatch);
    this.batches.unshift(batch);
    return batch;
  }

  /** Adds the keys of a lock for scripts that can do without the one of shared holders. */
  pushKeys(keys: string[], name: string): void {
    const lock = this.keySpace.lock(name);
    if (this.knowsModes) keys.push(lock, `${lock}:q`, `${lock}:s`);
    else keys.push(lock, `${lock}:q`);
  }

  /** The same of several locks: all locks, all queues, and all shared holders. */
  keysOf(names: readonly string[], withShared = this.knowsModes): string[] {
    const locks = names.map((name) => this.keySpace.lock(name));
    const keys = [...locks, ...locks.map((lock) => `${lock}:q`)];
    if (withShared) keys.push(...locks.map((lock) => `${lock}:s`));
    return keys;
  }

  /** What has been gathered has a key less for each lock. */
  noteModes(): void {
    if (this.knowsModes) return;
    this.flush();
    this.knowsModes = true;
  }

  noteSpent(token: number): void {
    this.spent = Math.max(this.spent, token);
  }

  /**
   * Sends what was gathered once nothing more can be expected in this tick; while Redis is at work on something anyway, not
   * before all that has arrived was read: the requests of many connections then share a call.
   */
  flushSoon(): void {
    if (this.isFlushDue) return;
    if (!this.topology.scripts.isIdle) return this.flushAfterInput();
    this.isFlushDue = true;
    process.nextTick(() => this.flushDue());
  }

  /** The same where many are known to come one by one, each in a callback of its own: they share a call. */
  flushAfterInput(): void {
    if (this.isFlushDue) return;
    this.isFlushDue = true;
    setImmediate(() => this.flushDue());
  }

  flush(): void {
    for (const batch of this.batches) batch.flush();
  }

  /** Runs a script once what was asked for in this tick is sent, so that Redis meets everything in that order. */
  run(script: LuaScript, keys: readonly string[], args: Args): Promise<unknown> {
    this.flush();
    return this.topology.scripts.run(script, keys, args);
  }

  /** The same with no limit of time for the answer. */
  runPatiently(script: LuaScript, keys: readonly string[], args: Args): Promise<unknown> {
    this.flush();
    return this.topology.scripts.runPatiently(script, keys, args);
  }

  /** One that Redis gets so late that it may be a copy is asked again, with twice the time. */
  sendAcquires(
    script: LuaScript,
    content: BatchContent,
    holder = this.instance,
    patience = this.settings.commandTimeout / 2,
  ): Promise<unknown> {
    const { clock } = this.settings;
    const { scripts } = this.topology;
    const keys = this.withFence(content.keys);
    const server = scripts.serverOf(keys);
    const latest = this.times.in(patience, server);
    const sentAt = clock.now();
    const args = [holder, latest, `${this.spent} ${this.prefixes(content.keys)}`, ...content.args];
    return scripts.runPatiently(script, keys, args).then((reply) => {
      const said = Array.isArray(reply) ? 0 : integer(reply);
      if (said < 0) {
        this.times.correct(-said, server, sentAt);
        return this.sendAcquires(script, content, holder, 2 * patience);
      }
      this.times.observe(() => timeIn(reply), server, sentAt);
      return reply;
    });
  }

  sendReleases(
    script: LuaScript,
    { keys, args, isAwaited }: BatchContent,
    ...holder: string[]
  ): Promise<unknown> {
    const { scripts } = this.topology;
    const all = this.withFence(keys);
    if (isAwaited) scripts.letMessagesLead?.(all);
    return scripts.run(script, all, [...holder, this.prefixes(keys), ...args]);
  }

  /** The counter of these locks stands before them. */
  withFence(keys: readonly string[]): string[] {
    return [this.keySpace.fence(keys[0] ?? ''), ...keys];
  }

  private flushDue(): void {
    this.isFlushDue = false;
    this.flush();
  }

  /** What a script has to know of inboxes and names. */
  common(keys: readonly string[]): [inbox: string, prefixLength: number] {
    return [this.inbox(keys[0] ?? ''), this.keySpace.prefixLength];
  }

  /** The same as one word, since an argument more is felt. */
  private prefixes(keys: readonly string[]): string {
    return `${this.keySpace.prefixLength} ${this.inbox(keys[0] ?? '')}`;
  }

  /** Where receivers are not counted as they should be, nobody may be told: who was would be passed over, too. */
  private inbox(lock: string): string {
    const { counting, keySpace } = this.topology;
    const inbox = counting === 'uncounted' ? '' : keySpace.inbox(lock);
    return inbox !== '' && counting === 'untried' ? inbox + UNTRIED : inbox;
  }

  /** Reads whether a lock was released. Somebody may have waited to share it, and could only be told of it. */
  isReleased(reply: unknown): boolean {
    const outcome = integer(reply);
    if (outcome === 2) this.noteModes();
    return outcome > 0;
  }

  /** Reads who has the lock instead, for how long, and what every later token exceeds. */
  taken(reply: unknown[]): Taken {
    const [remaining, by, tokenFloor] = list(reply, 3);
    const [left, owner] = [integer(remaining), text(by)];
    if (owner === SHARED_OWNER) this.noteModes();
    return { owner, remaining: left < 0 ? undefined : left, tokenFloor: integer(tokenFloor) };
  }
}

/** The first token, or the token floor beside who has the lock. */
function timeIn(reply: unknown): unknown {
  if (!Array.isArray(reply)) return reply;
  const [first] = reply as unknown[];
  return Array.isArray(first) ? first[first.length === 3 ? 2 : 0] : first;
}
