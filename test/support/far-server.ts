import { type ChildProcess, execFileSync, spawnSync } from 'node:child_process';
import { Redis } from 'ioredis';
import { end, spawnWithLifeline } from './lifeline.js';
import { OutputTail } from './output-tail.js';
import { nextServerProgram } from './server-program.js';
import { waitFor } from './wait-for.js';

/** Makes in a namespace of its own what {@link FarServer} needs, and leaves nothing behind. */
const TRIAL =
  'ip link add near0 type veth peer name far0 && ip rule add sport 1 dport 2 blackhole && nsenter --version';

/** Whether this process may create network namespaces: as root on Linux, with util-linux and iproute2. */
export const HAS_NAMESPACES = spawnSync('unshare', ['--net', 'sh', '-c', TRIAL]).status === 0;

/**
 * A redis-server in a network namespace of its own, at the other end of a veth pair.
 *
 * The kernel drops packets between the server and its clients: nobody sees a FIN, a reset or an ICMP message, and TCP
 * repeats segments as in a real network. They end with the server, which ends with this process.
 *
 * @example
 * await using server = await FarServer.start();
 * await server.cut('app', 'listening', 'toClient');
 */
export class FarServer implements AsyncDisposable {
  readonly port = 6379;
  private readonly output = new OutputTail();

  private constructor(
    private readonly child: ChildProcess,
    private readonly pid: number,
  ) {
    this.output.collect(child.stdout);
    this.output.collect(child.stderr);
  }

  /** @throws Error with the server's output if it does not start */
  static async start(): Promise<FarServer> {
    const redis = [nextServerProgram('data'), '--save', '', '--bind', '0.0.0.0', '--protected-mode', 'no'];
    const child = spawnWithLifeline('unshare', ['--net', ...redis], {});
    const server = new FarServer(child, child.pid ?? 0);
    try {
      const isReady = (): boolean => server.output.toString().includes('Ready to accept');
      await waitFor(isReady, { timeout: 15_000, that: 'the far server' });
      server.connect();
      return server;
    } catch (error) {
      await server.stop();
      throw new Error(`The far server did not start. It said:\n${server.output.toString()}`, {
        cause: error,
      });
    }
  }

  get host(): string {
    return this.address(2);
  }

  /**
   * Drops all later packets of the open connections with this name, in one direction.
   *
   * @returns how many connections it cut
   */
  async cut(
    connectionName: string,
    kind: 'listening' | 'commands',
    direction: 'toServer' | 'toClient',
  ): Promise<number> {
    const ports = await this.portsOf(connectionName, kind === 'listening');
    for (const port of ports) {
      const [from, to] = direction === 'toServer' ? [port, this.port] : [this.port, port];
      this.inside(`ip rule add pref 10 sport ${from} dport ${to} blackhole`);
    }
    return ports.length;
  }

  /** Takes the whole link down, or up again. Both sides keep their addresses, routes and connections. */
  setLink(state: 'up' | 'down'): void {
    this.inside(`ip link set far0 ${state}`);
  }

  /** Ends the server and removes the pair. May be called twice. */
  async stop(): Promise<void> {
    await end(this.child, 'SIGKILL');
    // The kernel keeps the namespace, and with it the pair, for minutes while it repeats a segment there.
    spawnSync('ip', ['link', 'del', this.near]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Adds the veth pair. Its names and addresses contain the pid, so that test runs at the same time do not meet. */
  private connect(): void {
    run(`ip link add ${this.near} type veth peer name far0 netns ${this.pid}`);
    run(`ip addr add ${this.address(1)}/30 dev ${this.near}`);
    run(`ip link set ${this.near} up`);
    this.inside(`ip addr add ${this.host}/30 dev far0`);
    this.setLink('up');
    // Packets for this host are delivered by the first rule: the rules of `cut` must come before it.
    this.inside('ip rule add pref 100 lookup local');
    this.inside('ip rule del pref 0');
  }

  private get near(): string {
    return `near${this.pid}`;
  }

  /** An address of the block that RFC 2544 reserves for tests of networks. */
  private address(host: 1 | 2): string {
    const last = ((this.pid % 2 ** 14) << 2) + host;
    return `198.18.${last >> 8}.${last & 255}`;
  }

  private async portsOf(connectionName: string, isListening: boolean): Promise<string[]> {
    const client = new Redis({ host: this.host, port: this.port });
    try {
      const connections = String(await client.client('LIST')).split('\n');
      return connections
        .filter((line) => line.includes(` name=${connectionName} `))
        .filter((line) => / [ps]?sub=[1-9]/.test(line) === isListening)
        .map((line) => / addr=[^ ]*:(\d+) /.exec(line)?.[1] ?? '');
    } finally {
      client.disconnect();
    }
  }

  private inside(command: string): void {
    run(`nsenter --target ${this.pid} --net ${command}`);
  }
}

function run(command: string): void {
  const [program = '', ...args] = command.split(' ');
  execFileSync(program, args);
}
