import type { ForcedRelease } from '../../lib/store/forced-release.interface.js';
import type { LockSnapshot } from '../../lib/store/lock-snapshot.interface.js';
import type {
  AcquireRequest,
  Extension,
  JointStore,
  LockStore,
  OwnerChange,
  StoreEvents,
  YieldRequest,
} from '../../lib/store/lock-store.js';
import type { Grant, SharedTerms, Taken } from '../../lib/store/grant.js';
import type { CommandConnection } from './command-connection.js';
import type { InboxConnection } from './inbox-connection.js';

/** A store whose server is at the other end of two unreliable connections. */
export class SimulatedStore implements LockStore {
  readonly trouble = new Error('The network does not answer.');

  readonly joint: JointStore = {
    acquire: (request) =>
      this.commands.send(async () => (await this.server.joint?.acquire(request)) ?? [], 'patient'),
    release: (names, tag) =>
      this.commands.send(async () => this.server.joint?.release(names, tag), 'impatient'),
  };

  constructor(
    private readonly server: LockStore,
    private readonly commands: CommandConnection,
    private readonly inbox: InboxConnection,
  ) {}

  open(events: StoreEvents): void {
    this.commands.reconnected = () => events.reconnected();
    this.inbox.listen(events);
  }

  canQueue(): boolean {
    return this.inbox.open;
  }

  place(claimTtl: number, tokens: number, shared?: SharedTerms): string {
    return this.server.place(claimTtl, tokens, shared);
  }

  acquire(request: AcquireRequest): Promise<Grant | Taken> {
    return this.commands.send(() => this.server.acquire(request), 'patient');
  }

  yield(request: YieldRequest): Promise<Grant | Taken | undefined> {
    return this.commands.send(() => this.server.yield(request), 'patient');
  }

  release(name: string, owner: string): Promise<boolean> {
    return this.commands.send(() => this.server.release(name, owner), 'impatient');
  }

  extend(batch: readonly Extension[]): ReturnType<LockStore['extend']> {
    return this.commands.send(() => this.server.extend(batch), 'impatient');
  }

  cancel(name: string, place: string): Promise<string | undefined> {
    return this.commands.send(() => this.server.cancel(name, place), 'impatient');
  }

  transfer(change: OwnerChange): Promise<boolean> {
    return this.commands.send(async () => (await this.server.transfer?.(change)) ?? false, 'patient');
  }

  query(name: string): Promise<LockSnapshot> {
    return this.commands.send(() => this.server.query(name), 'impatient');
  }

  list(beginning: string): AsyncIterable<readonly LockSnapshot[]> {
    return this.server.list(beginning);
  }

  forceRelease(name: string): Promise<ForcedRelease> {
    return this.commands.send(() => this.server.forceRelease(name), 'impatient');
  }

  close(): Promise<void> {
    return this.server.close();
  }
}
