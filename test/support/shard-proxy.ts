import { createHash } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { Command, type Redis } from 'ioredis';
import RedisParser from 'redis-parser';
import { LocalServer } from './local-server.js';
import type { RedisCluster } from './redis-cluster.js';

/** What a script must not do behind such an endpoint, for the message would have to leave its shard. */
const PRELUDE = `
local real = redis
local redis = setmetatable({}, { __index = real })
redis.pcall = function(command, ...)
  if command == 'PUBLISH' then
    return { err = 'ERR PUBLISH outside of the slot of the keys is not allowed from script' }
  end
  return real.pcall(command, ...)
end
redis.call = function(command, ...)
  local reply = redis.pcall(command, ...)
  if type(reply) == 'table' and reply.err then
    error(reply)
  end
  return reply
end
`;

const CROSSSLOT = new Error("CROSSSLOT Keys in request don't hash to the same slot");

/** The connection of one client, with a listening one to each shard where it has subscriptions. */
interface Visitor {
  readonly socket: Socket;
  readonly listeners: Map<Redis, Redis>;
  /** Replies go out in the order of the requests, whichever shard is first. */
  replies: Promise<void>;
}

/**
 * One endpoint before the masters of a Cluster, as some services have: clients take it for one Redis, and what touches
 * several slots is refused with CROSSSLOT. It does not follow slots that move.
 *
 * @example
 * const proxy = await ShardProxy.start(cluster);
 * const locks = createLockService(resolveModuleOptions({ connection: proxy.url, advanced: { layout: 'per-name' } }));
 */
export class ShardProxy extends LocalServer {
  private readonly visitors = new Set<Visitor>();
  private readonly texts = new Map<string, string>();

  private constructor(
    listener: Server,
    private readonly shards: readonly Redis[],
    private readonly bySlot: readonly Redis[],
  ) {
    super(listener);
  }

  static async start(cluster: RedisCluster): Promise<ShardProxy> {
    const shards = new Map(cluster.servers.map((server) => [server.port, server.client({ protocol: 2 })]));
    const [any] = shards.values();
    const bySlot: Redis[] = [];
    for (const [first, last, master] of (await any?.cluster('SLOTS')) ?? []) {
      const shard = shards.get(master?.[1] ?? 0);
      if (shard) for (let slot = first; slot <= last; slot++) bySlot[slot] = shard;
    }
    return new ShardProxy(createServer({ noDelay: true }), [...shards.values()], bySlot).listen();
  }

  reset(): void {
    for (const { socket } of this.visitors) socket.resetAndDestroy();
  }

  override async close(): Promise<void> {
    await super.close();
    for (const shard of this.shards) shard.disconnect();
  }

  protected accept(socket: Socket): void {
    const visitor: Visitor = { socket, listeners: new Map(), replies: Promise.resolve() };
    const parser = new RedisParser({
      returnReply: (request) => {
        const reply = this.answer(request as string[], visitor).catch((error: unknown) => error);
        visitor.replies = visitor.replies.then(async () => void socket.write(encoded(await reply)));
      },
      returnError: () => socket.destroy(),
    });
    this.visitors.add(visitor);
    socket.on('data', (bytes: Buffer) => parser.execute(bytes));
    socket.on('error', () => {});
    socket.once('close', () => {
      this.visitors.delete(visitor);
      for (const listener of visitor.listeners.values()) listener.disconnect();
    });
  }

  private async answer([command = '', ...args]: readonly string[], visitor: Visitor): Promise<unknown> {
    switch (command.toLowerCase()) {
      case 'eval':
        return this.run(args[0] ?? '', args.slice(1));
      case 'evalsha': {
        const text = this.texts.get(args[0] ?? '');
        if (text === undefined) throw new Error('NOSCRIPT No matching script. Please use EVAL.');
        return this.run(text, args.slice(1));
      }
      case 'ssubscribe':
      case 'sunsubscribe':
        return this.subscribe(command.toLowerCase(), args[0] ?? '', visitor);
      case 'hello':
        throw new Error('NOPROTO unsupported protocol version');
      case 'subscribe':
        throw new Error('ERR unknown command, for it would have to reach all shards');
      default:
        return this.shards[0]?.call(command, ...args);
    }
  }

  private async run(text: string, [count = '0', ...args]: readonly string[]): Promise<unknown> {
    this.texts.set(createHash('sha1').update(text).digest('hex'), text);
    const slots = new Set(args.slice(0, Number(count)).map(slotOf));
    if (slots.size > 1) throw CROSSSLOT;
    const [slot = 0] = slots;
    return this.bySlot[slot]?.eval(PRELUDE + text, count, ...args);
  }

  private async subscribe(command: string, channel: string, visitor: Visitor): Promise<unknown> {
    const shard = this.bySlot[slotOf(channel)];
    if (!shard) throw new Error('CLUSTERDOWN Hash slot not served');
    let listener = visitor.listeners.get(shard);
    if (!listener) {
      listener = shard.duplicate();
      listener.on('error', () => {});
      listener.on('smessage', (from: string, message: string) => {
        const text = encoded(['smessage', from, message]);
        visitor.replies = visitor.replies.then(() => void visitor.socket.write(text));
      });
      visitor.listeners.set(shard, listener);
      // One that stays, since the last one's end would end the mode as well.
      await listener.subscribe('stays');
    }
    if (command === 'ssubscribe') await listener.ssubscribe(channel);
    else await listener.sunsubscribe(channel);
    return [command, channel, 1];
  }
}

function slotOf(key: string): number {
  return new Command('get', [key]).getSlot();
}

function encoded(reply: unknown): string {
  if (Array.isArray(reply)) return `*${reply.length}\r\n${reply.map(encoded).join('')}`;
  if (reply instanceof Error) return `-${reply.message.replaceAll(/[\r\n]+/g, ' ')}\r\n`;
  if (typeof reply === 'number') return `:${reply}\r\n`;
  if (typeof reply !== 'string') return '$-1\r\n';
  return `$${Buffer.byteLength(reply)}\r\n${reply}\r\n`;
}
