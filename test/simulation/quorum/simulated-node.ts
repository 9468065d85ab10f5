import type { StoreEvents } from '../../../lib/store/lock-store.js';
import type { LuaScript } from '../../../lib/store/scripts/lua-script.js';
import { NotAsked, type QuorumNode, type RequestKind } from '../../../lib/store/quorum/quorum-node.js';
import { NO_EVENTS } from '../../support/no-events.js';
import type { CommandConnection } from '../command-connection.js';
import type { InboxConnection } from '../inbox-connection.js';
import type { NodeWitness } from './node-witness.js';

const RELEASED = /^released (.*)$/s;
const REVOKED = /^revoked (\S+) (.*)$/s;

/** One instance's way to a node of a quorum, at the other end of two unreliable connections. */
export class SimulatedNode implements QuorumNode {
  readonly clientPrefix = '';
  readonly trouble = new Error('The network does not answer.');

  constructor(
    readonly where: string,
    private readonly server: NodeWitness,
    private readonly commands: CommandConnection,
    private readonly inbox: InboxConnection,
  ) {}

  get listening(): boolean {
    return this.inbox.open;
  }

  connect(): void {}

  open(events: StoreEvents): void {
    this.commands.reconnected = () => events.reconnected();
    this.inbox.listen({
      ...NO_EVENTS,
      told: (message) => hear(message, events),
      subscribed: () => events.subscribed(),
    });
  }

  run(
    kind: RequestKind,
    { name }: LuaScript,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    if (kind === 'take' && !this.commands.isUp) return Promise.reject(new NotAsked(this.trouble.message));
    return this.commands.send(async () => this.server.run(name, keys, args), 'patient');
  }

  close(): void {}
}

function hear(message: string, events: StoreEvents): void {
  const [, name] = RELEASED.exec(message) ?? [];
  if (name !== undefined) events.released(name);
  const [, owner, from] = REVOKED.exec(message) ?? [];
  if (owner !== undefined && from !== undefined) events.revoked(from, owner);
}
