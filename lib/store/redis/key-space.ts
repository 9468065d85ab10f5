/** Where an instance receives messages about all its names. */
export interface OwnInbox {
  /** The unused name whose channel it is; undefined for a channel of no name. */
  readonly name?: string;
  readonly channel: string;
  /** An unused key in the slot of the channel. */
  readonly key: string;
}

/** Names of the keys and channels of a lock: a counter of fencing tokens for each name, and one inbox for all. */
export class KeySpace {
  /** Prefix of the common channel that notifies an instance of a forced release; empty for no notification. */
  readonly revocations: string;
  /** Length of the part before `{name}` in a key as Redis receives it. */
  readonly prefixLength: number;

  /** @param clientPrefix prefix that the client adds to keys, but not to channels */
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

  /** The part before `{name}` in a key as Redis receives it. */
  get before(): string {
    return this.clientPrefix + this.prefix;
  }

  keys(name: string): [lock: string, queue: string, shared: string] {
    const lock = this.lock(name);
    return [lock, `${lock}:q`, `${lock}:s`];
  }

  /** The key of the kept result of a name. */
  mark(name: string): string {
    return `${this.lock(name)}:done`;
  }

  /** A key that no lock uses, for trials and for commands without a key: hosted services refuse scripts without keys. */
  get unused(): string {
    return `${this.lock('trial')}:trial`;
  }

  /** Prefix of the channel that notifies an instance of a grant of this lock; empty for no notification. */
  inbox(_lock: string): string {
    return this.revocations;
  }

  /** The channel on which an instance receives the messages about a name. */
  channelOf(name: string, instance: string): string {
    return this.inbox(this.lock(name)) + instance;
  }

  ownInbox(instance: string): OwnInbox {
    return { key: this.unused, channel: this.revocations + instance };
  }

  /** The key and the command of a message to an instance about all its names. */
  messageTo(instance: string, message: string): [keys: readonly [string], command: readonly string[]] {
    const { key, channel } = this.ownInbox(instance);
    // A channel with a hash tag belongs to a slot.
    return [[key], [channel.includes('{') ? 'SPUBLISH' : 'PUBLISH', channel, message]];
  }

  /** The key of the counter of a lock's fencing tokens. */
  fence(lock: string): string {
    return `${lock}:fence`;
  }
}

/** One counter for all names, so that no key of a name remains. */
export class SingleKeySpace extends KeySpace {
  private readonly counter = `${this.prefix}fence`;

  override fence(): string {
    return this.counter;
  }
}

/** All keys of a lock in its slot: a script reaches only one slot, and `SPUBLISH` counts the receivers there. */
export class ClusterKeySpace extends KeySpace {
  override inbox(lock: string): string {
    if (this.wake === 'poll') return '';
    // The client's key prefix may contain its own hash tag.
    return `${this.clientPrefix}${lock}:inbox:`;
  }
}

/** The keys of a Cluster behind one endpoint, where no message leaves its slot. */
export class PerNameKeySpace extends ClusterKeySpace {
  override readonly revocations = '';

  override ownInbox(instance: string): OwnInbox {
    const name = `instance:${instance}`;
    return { name, key: `${this.lock(name)}:trial`, channel: this.channelOf(name, instance) };
  }
}
