import type { Redis } from 'ioredis';
import type { LuaScript } from '../../lib/store/scripts/lua-script.js';
import { extendScript } from '../../lib/store/scripts/extend.script.js';
import { quorumAcquireScript } from '../../lib/store/scripts/quorum-acquire.script.js';
import { quorumAcquireSharedScript } from '../../lib/store/scripts/quorum-acquire-shared.script.js';
import { quorumForceReleaseScript } from '../../lib/store/scripts/quorum-force-release.script.js';
import { quorumReleaseScript } from '../../lib/store/scripts/quorum-release.script.js';
import { quorumYieldScript } from '../../lib/store/scripts/quorum-yield.script.js';
import { RedisServer } from '../support/redis-server.js';

/** What a node answers to who wants something of it. */
export const ACCEPTED = 1;
export const TAKEN = 0;
export const OUTDATED = 2;
export const GONE = -1;

export const TTL = 20_000;
const CLAIM = 10_000;

interface Asked {
  /** The last token of the block, by default the first one. */
  readonly last?: number;
  /** Time of the place in the queue; left out, the instance does not queue. */
  readonly since?: number;
  readonly ttl?: number;
}

interface Ended {
  readonly mode?: 'wake' | 'quiet';
  readonly place?: string;
  readonly holds?: readonly string[];
}

/** One node of a quorum as scripts see it, and what the instances `b` and `c` hear. */
export class OneNode implements AsyncDisposable {
  /** The name of all that is asked. */
  name = '';
  private messages: string[] = [];

  private constructor(
    private readonly server: RedisServer,
    readonly client: Redis,
    private readonly listener: Redis,
  ) {
    listener.on('message', (channel: string, message: string) => this.messages.push(`${channel} ${message}`));
  }

  static async start(): Promise<OneNode> {
    const server = await RedisServer.start();
    const node = new OneNode(server, server.client(), server.client());
    await node.listener.subscribe('inbox:b', 'inbox:c');
    return node;
  }

  /** Goes on with a name that nothing is known of. */
  begin(name: string): void {
    this.name = name;
    this.messages = [];
  }

  /** All that was told to instances since the name began. */
  async heard(): Promise<readonly string[]> {
    await this.listener.ping();
    return this.messages;
  }

  owner(): Promise<string | null> {
    return this.client.get(this.lock);
  }

  async holders(): Promise<readonly string[]> {
    return (await this.client.zrange(`${this.lock}:s`, '0', '-1')).toSorted();
  }

  queue(): Promise<string[]> {
    return this.client.zrange(`${this.lock}:q`, '0', '-1');
  }

  /** Milliseconds since 1970 by its clock. */
  async time(): Promise<number> {
    const [seconds, micros] = await this.client.time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  }

  get lock(): string {
    return `lock:{${this.name}}`;
  }

  async acquire(
    instance: string,
    token: number,
    { last = token, since, ttl = TTL }: Asked = {},
  ): Promise<number> {
    const place = since === undefined ? '' : `${instance}|${since}`;
    const [outcome] = await this.run<[number]>(quorumAcquireScript, [
      instance,
      token,
      last,
      ttl,
      place,
      600_000,
    ]);
    return outcome;
  }

  async acquireShared(
    instance: string,
    token: number,
    { last = token, since, ttl = TTL }: Asked = {},
  ): Promise<number> {
    const place = since === undefined ? '' : placeToShare(instance, since);
    const args = [instance, `s1.${token}`, token, last, ttl, place, 600_000, 'inbox:', CLAIM, this.name];
    const [outcome] = await this.run<[number]>(quorumAcquireSharedScript, args);
    return outcome;
  }

  async yieldTurn(instance: string, token: number, next: number): Promise<number> {
    const lease = [TTL, `${instance}|5`, 600_000];
    const args = [instance, token, next, next, ...lease, 'inbox:', CLAIM, this.name];
    const [outcome] = await this.run<[number]>(quorumYieldScript, args);
    return outcome;
  }

  release(
    instance: string,
    token: number,
    { mode = 'wake', place = '', holds = [] }: Ended = {},
  ): Promise<number> {
    const args = [instance, token, mode, place, 'inbox:', CLAIM, this.name, ...holds];
    return this.run<number>(quorumReleaseScript, args);
  }

  /** The owner ids of the holds that ended, and of those that are there now. */
  forceRelease(...only: string[]): Promise<[ended: string[], held: string[]]> {
    return this.run(quorumForceReleaseScript, ['inbox:', CLAIM, this.name, ...only]);
  }

  async extendShared(owner: string, ttl: number): Promise<number> {
    const keys = [this.lock, `${this.lock}:s`];
    const [renewed] = (await this.client.eval(extendScript.lua, 2, ...keys, owner, ttl)) as [number];
    return renewed;
  }

  private async run<T>({ lua, takesSeveral }: LuaScript, args: readonly (string | number)[]): Promise<T> {
    const { lock } = this;
    const keys = [lock, `${lock}:q`, `${lock}:fence`, `${lock}:s`];
    if (!takesSeveral) return (await this.client.eval(lua, 4, ...keys, ...args)) as T;
    const [reply] = (await this.client.eval(lua, 4, ...keys, args.length, ...args)) as [T];
    return reply;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop();
  }
}

/** The place of an instance that waits for shared holds. */
export function placeToShare(instance: string, since: number): string {
  return `${instance}|0|0|s||${since}`;
}

/** The owner id of a shared hold that was granted with the proposal of a token. */
export function hold(instance: string, token: number, n = 1): string {
  return `${instance}~s1.${token}:${n}`;
}
