/** Where an instance receives messages about all its names. */
export interface OwnInbox {
  /** The unused name whose channel it is; undefined for a channel of no name. */
  readonly name?: string;
  readonly channel: string;
  /** An unused key in the slot of the channel. */
  readonly key: string;
}

/**
 * - common: one counter of fencing tokens, so that no key of a name remains, and one channel for each instance.
 * - quorum: a counter for each name, and one channel for each instance.
 * - cluster: all keys of a name are in its slot: a script reaches only one slot, and `SPUBLISH` counts the receivers there.
 * - per-name: the keys of a Cluster behind one endpoint, where no message leaves its slot.
 */
export type KeyLayout = 'common' | 'quorum' | 'cluster' | 'per-name';

/** Names of the keys and channels of a lock. */
export class KeySpace {
  /** Prefix of the common channel that notifies an instance of a forced release; empty for no notification. */
  readonly revocations: string;
  /** The part before `{name}` in a key as Redis receives it. */
  readonly before: string;
  /** The length of that part. */
  readonly prefixLength: number;

  /** @param clientPrefix prefix that the client adds to keys, but not to channels */
  constructor(
    private readonly layout: KeyLayout,
    private readonly prefix: string,
    private readonly clientPrefix = '',
    private readonly wake: 'pubsub' | 'poll' = 'pubsub',
  ) {
    this.revocations = wake === 'poll' || layout === 'per-name' ? '' : `${prefix}inbox:`;
    this.before = clientPrefix + prefix;
    this.prefixLength = Buffer.byteLength(this.before);
  }

  lock(name: string): string {
    return `${this.prefix}{${name}}`;
  }

  keys(name: string): [lock: string, queue: string, shared: string] {
    const lock = this.lock(name);
    return [lock, `${lock}:q`, `${lock}:s`];
  }

  /** The keys that change with a lease of a name. */
  heldKeys(name: string): [lock: string, shared: string] {
    const lock = this.lock(name);
    return [lock, `${lock}:s`];
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
  inbox(lock: string): string {
    if (this.layout === 'common' || this.layout === 'quorum') return this.revocations;
    // The client's key prefix may contain its own hash tag.
    return this.wake === 'poll' ? '' : `${this.clientPrefix}${lock}:inbox:`;
  }

  /** The channel on which an instance receives the messages about a name. */
  channelOf(name: string, instance: string): string {
    return this.inbox(this.lock(name)) + instance;
  }

  ownInbox(instance: string): OwnInbox {
    if (this.layout !== 'per-name') return { key: this.unused, channel: this.revocations + instance };
    const name = `instance:${instance}`;
    return { name, key: `${this.lock(name)}:trial`, channel: this.channelOf(name, instance) };
  }

  /** The key and the command of a message to an instance about all its names. */
  messageTo(instance: string, message: string): [keys: readonly [string], command: readonly string[]] {
    const { key, channel } = this.ownInbox(instance);
    // A channel with a hash tag belongs to a slot.
    return [[key], [channel.includes('{') ? 'SPUBLISH' : 'PUBLISH', channel, message]];
  }

  /** The key of the counter of a lock's fencing tokens. */
  fence(lock: string): string {
    return this.layout === 'common' ? `${this.prefix}fence` : `${lock}:fence`;
  }
}
