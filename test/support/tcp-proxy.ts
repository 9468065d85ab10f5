import { connect, createServer, type Server, type Socket } from 'node:net';
import { LocalServer } from './local-server.js';
import { TcpLane, type LaneRule } from './tcp-lane.js';

/** The connections of now on which a client listens, those for commands, or both. */
type Kind = 'listening' | 'commands' | 'all';

/** Which way bytes travel. */
type Direction = 'toServer' | 'toClient' | 'both';

interface Connection {
  readonly sockets: readonly [client: Socket, server: Socket];
  readonly lanes: readonly [toServer: TcpLane, toClient: TcpLane];
  /** Whether its client has subscribed to a channel. */
  isListening: boolean;
  /** Called at the first reply after the request that a {@link TcpProxy.loseNextReply} waited for. */
  replyLost: (() => void) | undefined;
}

interface ExpectedRequest {
  readonly text: string | RegExp;
  readonly replyLost: () => void;
}

/**
 * A bad network in front of a server of this machine.
 *
 * Rules ({@link delay}, {@link hold}, {@link drop}) apply to the connections of now and of later, until
 * {@link pass}.
 *
 * @example
 * const proxy = await TcpProxy.start(server);
 * const client = server.client({ port: proxy.port });
 * proxy.drop('toClient');   // Redis runs the commands, nobody learns of it
 * proxy.pass();             // works again, over new connections
 * await proxy.close();
 */
export class TcpProxy extends LocalServer {
  private readonly open = new Set<Connection>();
  private readonly rules: Record<'toServer' | 'toClient', LaneRule> = {
    toServer: { mode: 'pass', delay: 0 },
    toClient: { mode: 'pass', delay: 0 },
  };
  private readonly expected = new Set<ExpectedRequest>();

  private constructor(
    listener: Server,
    private target: { readonly port: number },
  ) {
    super(listener);
  }

  /** Listens on a free port of 127.0.0.1 and connects everyone to the target's port there. */
  static async start(target: { readonly port: number }): Promise<TcpProxy> {
    return new TcpProxy(createServer({ allowHalfOpen: true, noDelay: true }), target).listen();
  }

  /** How many connections are open, silenced ones included. */
  get connections(): number {
    return this.open.size;
  }

  /** Delivers everything so many milliseconds later, in each direction named. */
  delay(milliseconds: number, direction: Direction = 'both'): void {
    for (const rule of this.rulesOf(direction)) rule.delay = milliseconds;
  }

  /** Keeps bytes back, as a network that is down for a while; {@link pass} delivers them in order. */
  hold(direction: Direction): void {
    this.setMode(direction, 'hold');
  }

  /**
   * Swallows bytes while connections stay open: also the end of a connection is not passed on.
   *
   * A connection that has lost bytes stays of no use: it is reset by {@link pass} or {@link reset}.
   */
  drop(direction: Direction): void {
    this.setMode(direction, 'drop');
  }

  /**
   * Swallows bytes of the connections of this moment, as a path that died without a FIN. Connections of later work.
   *
   * @param direction with `'toClient'`, the server believes that its messages arrive
   */
  silence(kind: Kind, direction: Direction = 'both'): void {
    for (const { lanes } of this.connectionsOf(kind))
      for (const [i, each] of (['toServer', 'toClient'] as const).entries())
        if (direction === each || direction === 'both') lanes[i]?.silence();
  }

  /** Leads connections of later to another server, as an address does after a failover. */
  leadTo(target: { readonly port: number }): void {
    this.target = target;
  }

  /** Closes the servers' side of the connections of this moment, while their clients' side stays open and silent. */
  keepOnlyClients(kind: Kind): void {
    this.silence(kind);
    for (const { sockets } of this.connectionsOf(kind)) sockets[1].destroy();
  }

  /** Ends all rules: delivers what was held or delayed, and resets the connections that have lost bytes. */
  pass(): void {
    for (const connection of this.open) {
      if (connection.lanes.some((lane) => lane.hasGap)) reset(connection);
    }
    this.delay(0);
    this.setMode('both', 'pass');
  }

  /** Cuts connections of this moment with a TCP reset. Rules stay. */
  reset(kind: Kind = 'all'): void {
    for (const connection of this.connectionsOf(kind)) reset(connection);
  }

  /**
   * Lets the server run the next request that contains the text, swallows the reply and resets its connection.
   *
   * Where the client has several requests under way on that connection, the first reply after the matching
   * request is the one that is swallowed.
   *
   * @param text what the request contains, such as a key or the digest of a script; by default anything
   * @returns settles when the reply is lost
   */
  async loseNextReply(text: string | RegExp = ''): Promise<void> {
    await new Promise<void>((resolve) => this.expected.add({ text, replyLost: resolve }));
  }

  protected accept(client: Socket): void {
    const server = connect({ port: this.target.port, host: this.host, allowHalfOpen: true, noDelay: true });
    const connection: Connection = {
      sockets: [client, server],
      lanes: [
        new TcpLane(client, server, this.rules.toServer, (bytes) => {
          connection.isListening ||= /subscribe/i.test(bytes.toString('latin1'));
          this.recognise(bytes, connection);
          return 'forward';
        }),
        new TcpLane(server, client, this.rules.toClient, () => {
          if (!connection.replyLost) return 'forward';
          reset(connection);
          connection.replyLost();
          return 'swallow';
        }),
      ],
      isListening: false,
      replyLost: undefined,
    };
    this.open.add(connection);
    for (const socket of connection.sockets) {
      // What went wrong shows on the other side as a closed connection.
      socket.on('error', () => {});
      socket.once('close', () => {
        if (connection.sockets.every(({ closed }) => closed)) this.open.delete(connection);
      });
    }
  }

  private connectionsOf(kind: Kind): Connection[] {
    return [...this.open].filter(
      ({ isListening }) => kind === 'all' || isListening === (kind === 'listening'),
    );
  }

  private recognise(bytes: Buffer, connection: Connection): void {
    if (this.expected.size === 0) return;
    const request = bytes.toString('latin1');
    for (const expected of this.expected) {
      const { text, replyLost } = expected;
      if (typeof text === 'string' ? !request.includes(text) : !text.test(request)) continue;
      connection.replyLost = replyLost;
      this.expected.delete(expected);
      return;
    }
  }

  private setMode(direction: Direction, mode: LaneRule['mode']): void {
    for (const rule of this.rulesOf(direction)) rule.mode = mode;
    for (const { lanes } of this.open) for (const lane of lanes) lane.update();
  }

  private rulesOf(direction: Direction): LaneRule[] {
    const { toServer, toClient } = this.rules;
    if (direction === 'both') return [toServer, toClient];
    return [this.rules[direction]];
  }
}

function reset({ sockets }: Connection): void {
  for (const socket of sockets) socket.resetAndDestroy();
}
