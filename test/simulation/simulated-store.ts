import type {
  AcquireRequest,
  Extension,
  LockStore,
  OwnerChange,
  ShareRequest,
  StoreEvents,
  Transferred,
  Waiting,
  Waking,
  YieldRequest,
} from '../../lib/store/lock-store.js';
import type { MarkStore } from '../../lib/store/mark.js';
import type { StoreOperations } from '../../lib/store/store-operations.js';
import {
  type Grant,
  SHARED_OWNER,
  type SharedTerms,
  type Shares,
  type Taken,
} from '../../lib/store/grant.js';
import { isSharedOwner } from '../../lib/store/owner-id.js';
import { type CommandConnection, COMMAND_TIMEOUT } from './command-connection.js';
import type { InboxConnection } from './inbox-connection.js';
import type { KnownModes } from './known-modes.js';
import type { RequestKind } from './schedule.js';
import type { VirtualTime } from './virtual-time.js';

/** A store whose server is at the other end of two unreliable connections. */
export class SimulatedStore implements LockStore {
  readonly trouble = new Error('The network does not answer.');
  readonly marks: MarkStore = {
    read: (name) => this.commands.send(() => this.marksOfServer.read(name), 'impatient', 'read'),
    keep: (request) => this.commands.send(() => this.marksOfServer.keep(request), 'impatient', 'keep'),
    delete: (name) => this.commands.send(() => this.marksOfServer.delete(name), 'impatient'),
  };
  readonly operations: StoreOperations = {
    query: (name) => this.commands.send(() => this.server.operations.query(name), 'impatient'),
    list: (beginning) => this.server.operations.list(beginning),
    forceRelease: (name) => this.commands.send(() => this.server.operations.forceRelease(name), 'impatient'),
  };
  /** Whether the server has told its time. */
  private knowsTime = false;

  constructor(
    private readonly server: LockStore,
    private readonly commands: CommandConnection,
    private readonly inbox: InboxConnection,
    /** Left out where every script is given all keys. */
    private readonly modes?: KnownModes,
    /** The server's time, where requests say until when they count. */
    private readonly dates?: VirtualTime,
  ) {}

  open(events: StoreEvents): void {
    this.commands.reconnected = () => events.reconnected();
    this.inbox.listen(events);
  }

  wakesBy(): Waking | undefined {
    return this.inbox.open ? 'message' : undefined;
  }

  place(claimTtl: number, wanted: number, shared?: SharedTerms): string {
    return this.server.place(claimTtl, wanted, shared);
  }

  async acquire(request: AcquireRequest): Promise<Grant | Taken> {
    const reply = await this.sendAcquire(() => this.server.acquire(request), 'known keys');
    if (reply.owner === SHARED_OWNER) this.modes?.note();
    return reply;
  }

  async share(request: ShareRequest): Promise<Shares> {
    const { server } = this;
    if (!server.share) throw new Error('This server has no shared mode.');
    const reply = await this.sendAcquire(server.share.bind(server, request), 'all keys');
    this.modes?.note();
    return reply;
  }

  async yield(request: YieldRequest): Promise<Grant | Taken | undefined> {
    const reply = await this.request('yield', () => this.server.yield(request), 'patient');
    if (reply?.owner === SHARED_OWNER) this.modes?.note();
    return reply;
  }

  release(name: string, owner: string): Promise<boolean> {
    const execute = (): Promise<boolean> => this.server.release(name, owner);
    return isSharedOwner(owner)
      ? this.commands.send(execute, 'impatient', 'release')
      : this.request('release', execute, 'impatient');
  }

  extend(batch: readonly Extension[]): ReturnType<LockStore['extend']> {
    return this.commands.send(() => this.server.extend(batch), 'impatient', 'extend');
  }

  cancel(name: string, waiting: Waiting): Promise<readonly string[]> {
    return this.commands.send(() => this.server.cancel(name, waiting), 'impatient', 'cancel');
  }

  transfer(changes: readonly OwnerChange[]): Promise<Transferred> {
    return this.commands.send(
      async () => (await this.server.transfer?.(changes)) ?? 'gone',
      'patient',
      'transfer',
    );
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private get marksOfServer(): MarkStore {
    const { marks } = this.server;
    if (!marks) throw new Error('This server keeps no results.');
    return marks;
  }

  /** Sends a request with the keys that the instance knows of. */
  private async request<T>(
    kind: RequestKind,
    execute: () => Promise<T>,
    patience: 'patient' | 'impatient',
  ): Promise<T> {
    const { commands, modes } = this;
    if (!modes) return commands.send(execute, patience, kind);
    const { reply, hasAsked } = await commands.send(modes.keysOf(execute), patience, kind);
    if (hasAsked) modes.note();
    return reply;
  }

  /** Sends a request that the server executes in time only: one that arrives later is sent again. */
  private async sendAcquire<T>(
    execute: () => Promise<T>,
    keys: 'all keys' | 'known keys',
    delay = COMMAND_TIMEOUT / 2,
  ): Promise<T> {
    const { dates } = this;
    const latest = dates && this.knowsTime ? dates.now + delay : Infinity;
    const inTime = async (): Promise<{ readonly reply: T } | undefined> =>
      dates && dates.now > latest ? undefined : { reply: await execute() };
    const sent = await (keys === 'all keys'
      ? this.commands.send(inTime, 'patient', 'acquire')
      : this.request('acquire', inTime, 'patient'));
    this.knowsTime = true;
    return sent ? sent.reply : this.sendAcquire(execute, keys, 2 * delay);
  }
}
