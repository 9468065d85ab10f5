import type { Redis } from 'ioredis';
import type { LuaScript } from '../../lib/store/scripts/lua-script.js';
import { RedisServer } from '../support/redis-server.js';
import { CLOCK, PUBLISHED, stepped } from './stepped-clock.js';

/** What a script published. */
type Published = readonly [channel: string, message: string];

/** What the keys of a name contain. */
interface KeyContent {
  readonly lock: string | null;
  /** Milliseconds until the lock expires. */
  readonly remaining: number;
  /** Places in order. */
  readonly queue: readonly string[];
  /** Owner ids and ends of leases, by turns. */
  readonly shared: readonly string[];
}

const lookScript = stepped({
  name: 'look',
  lua: `
local content = {}
for i = 1, #KEYS, 3 do
  content[#content + 1] = {
    redis.call('GET', KEYS[i]), redis.call('PTTL', KEYS[i]),
    redis.call('ZRANGE', KEYS[i + 1], 0, -1), redis.call('ZRANGE', KEYS[i + 2], 0, -1, 'WITHSCORES'),
  }
end
local published = redis.call('LRANGE', '${PUBLISHED}', 0, -1)
redis.call('DEL', '${PUBLISHED}')
return { content, published }
`,
});

/** FLUSHALL would also give the memory back to the system, which takes longer than a sequence. */
const clearScript = stepped({
  name: 'clear',
  lua: `for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('DEL', key) end`,
});

/** Breaks a script on purpose. */
type Mutation = (script: LuaScript) => Pick<LuaScript, 'name' | 'lua'>;

/** Scripts that get the key of shared holders only where the instance knows of modes. */
const MAY_LACK_SHARED_KEYS: ReadonlySet<string> = new Set(['acquire', 'release', 'yield']);

/** A real Redis on which the scripts see a time that stands still until it is stepped. */
export class SteppedRedis implements AsyncDisposable {
  /** Milliseconds since 1970. */
  now = 0;
  /** Whether the last script was given the key of shared holders, or needs none. */
  gaveSharedKeys = true;
  /** What the scripts see as now. */
  private toldTime: number | undefined;
  private readonly scripts = new Map<string, LuaScript>();
  private readonly listening = new Set<string>();
  private mutation: Mutation = (script) => script;

  private constructor(
    private readonly server: RedisServer,
    private readonly client: Redis,
    private readonly listener: Redis,
  ) {}

  static async start(): Promise<SteppedRedis> {
    const server = await RedisServer.start();
    return new SteppedRedis(server, server.client(), server.client());
  }

  /** Forgets all data. */
  async reset(now: number): Promise<void> {
    this.now = now;
    await this.evaluate(clearScript, [], []);
    this.toldTime = undefined;
  }

  /** Subscribes to a channel, or unsubscribes. */
  async listen(channel: string, listens: boolean): Promise<void> {
    if (this.listening.has(channel) === listens) return;
    if (listens) {
      this.listening.add(channel);
      await this.listener.subscribe(channel);
    } else {
      this.listening.delete(channel);
      await this.listener.unsubscribe(channel);
    }
  }

  isHeard(channel: string): boolean {
    return this.listening.has(channel);
  }

  /** Runs all later scripts with a fault. */
  mutate(mutation: Mutation): void {
    this.scripts.clear();
    this.mutation = mutation;
  }

  async run(
    script: LuaScript,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    this.gaveSharedKeys = !MAY_LACK_SHARED_KEYS.has(script.name) || keys.some((key) => key.endsWith(':s'));
    let known = this.scripts.get(script.sha);
    if (!known) {
      known = stepped(this.mutation(script));
      this.scripts.set(script.sha, known);
    }
    return this.evaluate(known, keys, args);
  }

  /** What is in the keys of each name, and what was published since the last look. */
  async look(keys: readonly string[]): Promise<{ content: KeyContent[]; published: Published[] }> {
    const [content, said] = (await this.evaluate(lookScript, keys, [])) as [
      [string | null, number, string[], string[]][],
      string[],
    ];
    return {
      content: content.map(([lock, remaining, queue, shared]) => ({ lock, remaining, queue, shared })),
      published: said.flatMap((each, i) => (i % 2 === 0 ? [[each, said[i + 1] ?? ''] as const] : [])),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop();
  }

  private async evaluate(
    { sha, lua }: LuaScript,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    if (this.toldTime !== this.now) {
      this.toldTime = this.now;
      void this.client.set(CLOCK, this.now * 1_000);
    }
    try {
      return await this.client.evalsha(sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return this.client.eval(lua, keys.length, ...keys, ...args);
    }
  }
}
