/** Where in Redis the parts of a lock are. */
export abstract class KeySpace {
  /** Begins the channel, common to all names, on which an instance is told that a hold was taken away. Empty: it is not. */
  readonly revocations: string;
  /** Length of what precedes `{name}` in a key as Redis sees it. */
  readonly prefixLength: number;

  /** @param clientPrefix what the client puts before keys, but not before channels */
  constructor(
    protected readonly prefix: string,
    protected readonly clientPrefix: string,
    protected readonly wake: 'pubsub' | 'poll',
  ) {
    this.revocations = wake === 'poll' ? '' : `${prefix}inbox:`;
    this.prefixLength = Buffer.byteLength(clientPrefix + prefix);
  }

  lock(name: string): string {
    return `${this.prefix}{${name}}`;
  }

  /** What precedes `{name}` in a key as Redis sees it. */
  get before(): string {
    return this.clientPrefix + this.prefix;
  }

  keys(name: string): [lock: string, queue: string, shared: string] {
    const lock = this.lock(name);
    return [lock, `${lock}:q`, `${lock}:s`];
  }

  /** Begins the channel on which an instance is told of a grant of this lock. Empty: it is not. */
  abstract inbox(lock: string): string;

  /** Where an instance is told of what concerns all of its names, and a key beside that. */
  ownInbox(instance: string): { readonly key: string; readonly channel: string } {
    return { key: this.lock(''), channel: this.revocations + instance };
  }

  /** The counter of the fencing tokens of a lock. */
  abstract fence(lock: string): string;
}

/** One counter and one inbox for all names: nothing is left behind for a name. */
export class SingleKeySpace extends KeySpace {
  private readonly counter = `${this.prefix}fence`;

  inbox(): string {
    return this.revocations;
  }

  fence(): string {
    return this.counter;
  }
}

/** Everything of a lock in its slot: a script reaches one slot only, and a message counts its receivers there. */
export class ClusterKeySpace extends KeySpace {
  inbox(lock: string): string {
    if (this.wake === 'poll') return '';
    // What the client puts before keys may hold a hash tag of its own.
    return `${this.clientPrefix}${lock}:inbox:`;
  }

  fence(lock: string): string {
    return `${lock}:fence`;
  }
}

/** That of a Cluster behind one endpoint, where nothing reaches what is outside of its slot. */
export class PerNameKeySpace extends ClusterKeySpace {
  override readonly revocations = '';

  /** A name that no lock has, in whose slot an instance is told of what concerns all of its names. */
  nameOf(instance: string): string {
    return `instance:${instance}`;
  }

  override ownInbox(instance: string): { readonly key: string; readonly channel: string } {
    const lock = this.lock(this.nameOf(instance));
    return { key: `${lock}:trial`, channel: this.inbox(lock) + instance };
  }
}
