import { UNTRIED } from '../scripts/functions/hand-off.js';
import type { LuaScript } from '../scripts/lua-script.js';
import { integer } from './connection/script-reply.js';
import type { KeySpace } from './key-space.js';
import { type BatchContent, ScriptBatch, type ScriptServer, type SendBatch } from './script-batch.js';
import { ServerTimes } from './server-times.js';
import type { Topology, RedisStoreSettings } from './topology.js';

type Args = readonly (string | number)[];

/** Sends the requests of one instance to Redis: those of one tick leave at its end, in one call for each script. */
export class Outbox implements ScriptServer {
  /**
   * Whether this instance has met shared mode. From then on, scripts also receive the key of shared holders. The
   * additional key for each lock costs time, so instances without shared mode omit it.
   */
  private hasMetSharedMode = false;
  /** The highest token whose lease has ended here. */
  private endedToken = 0;
  private isFlushDue = false;
  private readonly batches: ScriptBatch[] = [];
  private readonly times: ServerTimes;

  constructor(
    private readonly topology: Pick<
      Topology,
      'keySpace' | 'maxBatch' | 'receivers' | 'runnerOf' | 'serverOf'
    >,
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

  get maxBatch(): number | undefined {
    return this.topology.maxBatch;
  }

  newAcquireBatch(send: SendBatch): ScriptBatch {
    const batch = new ScriptBatch(send, this.maxBatch);
    this.batches.push(batch);
    return batch;
  }

  /**
   * Creates a batch of releases. Releases leave before acquires, because an instance may release and request a name in
   * the same tick.
   */
  newReleaseBatch(send: SendBatch): ScriptBatch {
    const batch = new ScriptBatch(send, this.maxBatch);
    this.batches.unshift(batch);
    return batch;
  }

  /** Adds the keys of a lock for scripts to which the key of shared holders is optional. */
  pushKeys(keys: string[], name: string): void {
    const lock = this.keySpace.lock(name);
    if (this.hasMetSharedMode) keys.push(lock, `${lock}:q`, `${lock}:s`);
    else keys.push(lock, `${lock}:q`);
  }

  /** Records contact with shared mode. Flushes first, because the gathered requests have one key less for each lock. */
  noteSharedMode(): void {
    if (this.hasMetSharedMode) return;
    this.flush();
    this.hasMetSharedMode = true;
  }

  noteEndedToken(token: number): void {
    this.endedToken = Math.max(this.endedToken, token);
  }

  /**
   * Sends the gathered requests at the end of this tick. While a call is in flight, it waits until all received data
   * has been read, so that the requests of many connections share a call. Several servers gather none.
   */
  flushSoon(): void {
    if (this.isFlushDue || this.maxBatch === 1) return;
    if (!this.topology.runnerOf([]).isIdle) return this.flushAfterInput();
    this.isFlushDue = true;
    process.nextTick(() => this.flushDue());
  }

  /**
   * Sends the gathered requests when all received data has been read, for requests that arrive one by one in separate
   * callbacks.
   */
  flushAfterInput(): void {
    if (this.isFlushDue) return;
    this.isFlushDue = true;
    setImmediate(() => this.flushDue());
  }

  flush(): void {
    for (const batch of this.batches) batch.flush();
  }

  /** Runs a script after the gathered requests of this tick, so that Redis receives all in that order. */
  run(script: LuaScript, keys: readonly string[], args: Args): Promise<unknown> {
    this.flush();
    return this.topology.runnerOf(keys).run(script, keys, args);
  }

  /** Runs a script as {@link run} does, without a time limit for the reply. */
  runWithoutTimeout(script: LuaScript, keys: readonly string[], args: Args): Promise<unknown> {
    this.flush();
    return this.topology.runnerOf(keys).runWithoutTimeout(script, keys, args);
  }

  /**
   * Sends acquires. If they arrive so late that they might be copies, Redis ignores them, and they are repeated with
   * twice the time.
   */
  sendAcquires(
    script: LuaScript,
    content: BatchContent,
    validity = this.settings.commandTimeout / 2,
  ): Promise<unknown> {
    const { clock, instance } = this.settings;
    const { topology } = this;
    const keys = this.withFence(content.keys);
    const server = topology.serverOf(keys);
    const latest = this.times.in(validity, server);
    const sentAt = clock.now();
    const args = [instance, latest, `${this.endedToken} ${this.prefixes(content.keys)}`, ...content.args];
    const replied = topology.runnerOf(keys).runWithoutTimeout(script, keys, args);
    return replied.then((reply) => {
      const said = Array.isArray(reply) ? 0 : integer(reply);
      if (said < 0) {
        this.times.correct(-said, server, sentAt);
        return this.sendAcquires(script, content, 2 * validity);
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
    const all = this.withFence(keys);
    const runner = this.topology.runnerOf(all);
    if (isAwaited) runner.letMessagesLead();
    return runner.run(script, all, [...holder, this.prefixes(keys), ...args]);
  }

  /** Prepends the counter of these locks. */
  withFence(keys: readonly string[]): string[] {
    return [this.keySpace.fence(keys[0] ?? ''), ...keys];
  }

  /** The script arguments about inboxes and names as one word, because each argument costs time. */
  prefixes(keys: readonly string[]): string {
    return `${this.keySpace.prefixLength} ${this.inbox(keys[0] ?? '')}`;
  }

  /**
   * The prefix of the inbox. If receivers are not counted, scripts must not publish: they would skip instances that do
   * receive the message.
   */
  private inbox(lock: string): string {
    const { receivers, keySpace } = this.topology;
    const inbox = receivers === 'uncounted' ? '' : keySpace.inbox(lock);
    return inbox !== '' && receivers === 'untried' ? inbox + UNTRIED : inbox;
  }

  private flushDue(): void {
    this.isFlushDue = false;
    this.flush();
  }
}

/** The first token, or the token floor, both of which follow the server's clock. */
function timeIn(reply: unknown): unknown {
  if (!Array.isArray(reply)) return reply;
  const [first] = reply as unknown[];
  return Array.isArray(first) ? first[first.length === 3 ? 2 : 0] : first;
}
