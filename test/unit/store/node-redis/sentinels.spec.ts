import { createServer, type Server, type Socket } from 'node:net';
import { createSentinel } from 'redis';
import RedisParser from 'redis-parser';
import { NodeRedisSentinel } from '../../../../lib/store/redis/node-redis/node-redis-sentinel.js';
import { LocalServer } from '../../../support/local-server.js';
import { RedisServer } from '../../../support/redis-server.js';
import { waitFor } from '../../../support/wait-for.js';

const CHANNEL = '+switch-master';

/** A sentinel that knows a master only by what a test tells it. */
class ToldSentinel extends LocalServer {
  private readonly clients = new Set<Socket>();
  readonly listeners = new Set<Socket>();

  private constructor(
    listener: Server,
    private master: RedisServer,
  ) {
    super(listener);
  }

  static start(master: RedisServer): Promise<ToldSentinel> {
    return new ToldSentinel(createServer(), master).listen();
  }

  /** Reports another master. */
  promote(master: RedisServer): void {
    const { host, port } = this.master;
    this.master = master;
    const text = ['m', host, port, master.host, master.port].join(' ');
    for (const client of this.listeners) client.write(encoded('message', CHANNEL, text));
  }

  reset(): void {
    for (const client of this.clients) client.destroy();
  }

  protected accept(client: Socket): void {
    this.clients.add(client);
    client.on('error', () => {}).once('close', () => this.listeners.delete(client));
    const parser = new RedisParser({
      returnReply: (request) => client.write(this.replyTo(client, request as string[])),
      returnError: () => client.destroy(),
    });
    client.on('data', (bytes: Buffer) => parser.execute(bytes));
  }

  private replyTo(client: Socket, [command = '']: readonly string[]): string {
    if (/^sentinel$/i.test(command)) return encoded(this.master.host, String(this.master.port));
    if (!/^subscribe$/i.test(command)) return '+OK\r\n';
    this.listeners.add(client);
    return `*3\r\n$9\r\nsubscribe\r\n$${CHANNEL.length}\r\n${CHANNEL}\r\n:1\r\n`;
  }
}

function encoded(...texts: readonly string[]): string {
  return `*${texts.length}\r\n${texts.map((text) => `$${text.length}\r\n${text}\r\n`).join('')}`;
}

describe('A client of createSentinel', () => {
  it('goes to the master that a sentinel reports, although another one does not know it yet', async () => {
    await using old = await RedisServer.start();
    await using next = await RedisServer.start();
    await using late = await ToldSentinel.start(old);
    await using informed = await ToldSentinel.start(old);
    const sentinelRootNodes = [late, informed].map(({ host, port }) => ({ host, port }));
    const { commands } = new NodeRedisSentinel(createSentinel({ name: 'm', RESP: 2, sentinelRootNodes }));
    const isAt = ({ port }: RedisServer): boolean =>
      commands.state === 'ready' && commands.peer.endsWith(` ${port}`);
    commands.connect();
    await waitFor(() => isAt(old) && informed.listeners.size > 0);

    informed.promote(next);

    await waitFor(() => isAt(next));
    commands.close();
  });
});
