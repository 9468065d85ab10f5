import type { Redis } from 'ioredis';
import type { LuaScript } from '../../lib/store/scripts/lua-script.js';
import { quorumAcquireScript } from '../../lib/store/scripts/quorum-acquire.script.js';
import { quorumReleaseScript } from '../../lib/store/scripts/quorum-release.script.js';
import { RedisServer } from '../support/redis-server.js';

/** What a node answers to who wants something of it. */
export const ACCEPTED = 1;
export const TAKEN = 0;
export const OUTDATED = 2;

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

  release(instance: string, token: number, { mode = 'wake', place = '' }: Ended = {}): Promise<number> {
    const args = [instance, token, mode, place, 'inbox:', CLAIM, this.name];
    return this.run<number>(quorumReleaseScript, args);
  }

  forceRelease(owner: string): Promise<number> {
    return this.run<number>(quorumReleaseScript, [owner, 0, 'revoke', '', 'inbox:', CLAIM, this.name]);
  }

  private async run<T>({ lua, takesSeveral }: LuaScript, args: readonly (string | number)[]): Promise<T> {
    const { lock } = this;
    const keys = [lock, `${lock}:q`, `${lock}:fence`];
    if (!takesSeveral) return (await this.client.eval(lua, 3, ...keys, ...args)) as T;
    const [reply] = (await this.client.eval(lua, 3, ...keys, args.length, ...args)) as [T];
    return reply;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop();
  }
}
