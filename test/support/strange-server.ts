import { connect, createServer, type Server, type Socket } from 'node:net';
import RedisParser from 'redis-parser';
import { LocalServer } from './local-server.js';

/** What scripts meet at a {@link StrangeServer}. */
export interface Strangeness {
  /** Messages are delivered, but their receivers are not counted. */
  readonly countsNobody?: boolean;
  /** The error with which a script's command is refused, by name in capitals. */
  readonly refused?: Readonly<Record<string, string>>;
  /** Other than the server's own; null where scripts are not told. */
  readonly version?: string | null;
  /** What INFO answers to a script. */
  readonly info?: string;
}

/** No script has this digest. */
const UNKNOWN = '0'.repeat(40);

/**
 * Stands before a real server, and lets scripts see another one: like services and proxies that speak Redis's protocol,
 * and not all of it in the same way.
 *
 * It puts a few lines of Lua before each script. The rest passes as it is.
 *
 * @example
 * const strange = await StrangeServer.start(server, { refused: { TIME: 'ERR This Redis command is not allowed from script' } });
 * const locks = createLockService(resolveModuleOptions({ connection: strange.url }));
 */
export class StrangeServer extends LocalServer {
  private readonly sockets = new Set<Socket>();
  private readonly late: (() => void)[] = [];
  private withheld: string | undefined;

  private constructor(
    listener: Server,
    private readonly target: { readonly port: number },
    /** Counts from the next script on. */
    public strangeness: Strangeness,
  ) {
    super(listener);
  }

  static async start(
    target: { readonly port: number },
    strangeness: Strangeness = {},
  ): Promise<StrangeServer> {
    return new StrangeServer(createServer({ noDelay: true }), target, strangeness).listen();
  }

  /** Keeps back what has such a text in it, and what comes after it on that connection, until {@link deliver}. */
  withhold(text: string): void {
    this.withheld = text;
  }

  /** Lets through what was kept back. */
  deliver(): void {
    this.withheld = undefined;
    for (const send of this.late.splice(0)) send();
  }

  reset(): void {
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  protected accept(client: Socket): void {
    const server = connect({ port: this.target.port, host: this.host, noDelay: true });
    const parser = new RedisParser({
      returnReply: (request) => server.write(encoded(this.rewrite(request as string[]))),
      returnError: () => client.destroy(),
    });
    client.on('data', (bytes: Buffer) => parser.execute(bytes));
    let isLate = false;
    server.on('data', (bytes: Buffer) => {
      isLate = this.withheld !== undefined && (isLate || bytes.includes(this.withheld));
      if (isLate) this.late.push(() => client.write(bytes));
      else client.write(bytes);
    });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(socket);
      // What went wrong shows on the other side as a closed connection.
      socket.on('error', () => {});
      socket.once('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
    }
  }

  private rewrite(request: readonly string[]): readonly string[] {
    const [command = '', script = '', ...rest] = request;
    if (/^eval$/i.test(command)) return [command, prelude(this.strangeness) + script, ...rest];
    // Each is sent in full once more when its digest is not known.
    return /^evalsha$/i.test(command) ? [command, UNKNOWN, ...rest] : request;
  }
}

/** What the script after it takes for the server. */
function prelude({ countsNobody = false, info, refused = {}, version }: Strangeness): string {
  const refusals = Object.entries(refused).map(([command, error]) => `['${command}'] = '${error}'`);
  return `
local real, refused = redis, { ${refusals.join(', ')} }
local redis = setmetatable({}, { __index = function(_, name)
  ${version === undefined ? '' : `if name == 'REDIS_VERSION' then return ${version === null ? 'nil' : `'${version}'`} end`}
  return real[name]
end })
redis.pcall = function(command, ...)
  if refused[command] then
    return { err = refused[command] }
  end
  ${info === undefined ? '' : `if command == 'INFO' then return '${info}' end`}
  local reply = real.pcall(command, ...)
  if ${String(countsNobody)} and string.find(command, 'PUBLISH') and type(reply) == 'number' then
    return 0
  end
  return reply
end
redis.call = function(command, ...)
  local reply = redis.pcall(command, ...)
  if type(reply) == 'table' and reply.err then
    error(reply)
  end
  return reply
end
`;
}

function encoded(request: readonly string[]): string {
  const texts = request.map((text) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`);
  return `*${request.length}\r\n${texts.join('')}`;
}
