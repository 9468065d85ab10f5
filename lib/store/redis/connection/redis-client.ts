import type { LuaScript } from '../../scripts/lua-script.js';

/** The interfaces between a store and a client of Redis. Adapters hide the peculiarities of each client package. */

/** `idle`: not connected yet. `reconnecting`: the client knows that its server is unreachable. `ended`: permanently. */
export type ClientState = 'idle' | 'connecting' | 'ready' | 'reconnecting' | 'ended';

/** `ssubscribe` receives messages in a slot of this node, `subscribe` messages from any node. */
export type SubscribeCommand = 'ssubscribe' | 'subscribe';

export interface ScriptCall {
  readonly script: LuaScript;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

export interface ClientEvents {
  /** Commands can be sent (again). */
  ready: () => void;
  /** The connection is gone. */
  lost: () => void;
  /** An error of the connection, which is reported nowhere else. */
  error: (error: unknown) => void;
  message: (channel: string, message: string) => void;
}

/** One connection to one server, which reconnects after each loss. */
export interface RedisClient {
  readonly state: ClientState;
  /** The address of the connected server, to distinguish servers. */
  readonly peer: string;
  /** Connects, if not yet connected. Events report the outcome. */
  connect(): void;
  /** Listens to an event until the returned function is called. */
  on<Event extends keyof ClientEvents>(event: Event, call: ClientEvents[Event]): () => void;
  /**
   * Runs a script by its digest, or by its text. Resolves to its reply: numbers (or texts of digits), texts, null, and
   * arrays of these that may contain errors. Rejects with the server's error.
   */
  evaluate(call: ScriptCall, by: 'digest' | 'text'): Promise<unknown>;
  /** Resolves to the number of replicas that have the last write of this connection. */
  wait(replicas: number, timeout: number): Promise<number>;
  subscribe(command: SubscribeCommand, channel: string): Promise<void>;
  /** Ends a subscription by `ssubscribe`. */
  unsubscribe(channel: string): void;
  /** Gathers the commands of this tick into one packet. */
  cork(): void;
  /**
   * Makes the server send the messages of the next command before its reply, by a command without effect in the same
   * packet. The server writes last to a client that already has a pending reply. Does nothing while no command can be
   * sent; rejects if the server rejects it.
   */
  letMessagesLead(): Promise<void>;
  /** Cuts the connection at once, including undelivered data, and reconnects. */
  cut(): void;
  /** Closes the client in any state. */
  close(): void;
}

/** The credentials of a client, as far as it has any. */
export interface RedisUser {
  readonly username?: unknown;
  readonly password?: unknown;
}

/** Settings of clients that are known before they connect. */
interface ClientSettings {
  /** Whether this module created the command clients: only these are cut when silent, and closed. */
  readonly isOwned: boolean;
  /** Whether the clients connect only for the first lock. */
  readonly isLazy?: boolean;
  /** Prefix that the client adds to keys, but not to channels. */
  readonly keyPrefix?: string;
  /** Credentials to redact. */
  readonly users: readonly (RedisUser | undefined)[];
}

/** The clients of one server, or of the master behind sentinels, all with the same settings. */
export interface RedisClients extends ClientSettings {
  readonly commands: RedisClient;
  /** Address of the server in messages. */
  readonly where: string;
  readonly isTls: boolean;
  /** A warning about this client's settings for the log. */
  readonly warning?: string | undefined;
  /** Creates a further client, for listening or without repetition of lost commands. */
  open(sendsAgain: boolean): RedisClient;
}

export interface ClusterEvents {
  ready: () => void;
  /** The slot map has been read again. */
  refresh: () => void;
  /** A node can be used (again). */
  nodeReady: () => void;
  nodeGone: () => void;
  error: (error: unknown) => void;
}

/** The client of a Cluster, its nodes, and the map from slots to nodes. Addresses are those of the slot map. */
export interface ClusterClients extends ClientSettings {
  readonly state: ClientState;
  /** Whether all known masters are usable or still unused. */
  readonly hasAllMasters: boolean;
  connect(): void;
  on<Event extends keyof ClusterEvents>(event: Event, call: ClusterEvents[Event]): () => void;
  /** Runs a script at the node that currently serves its first key. */
  evaluate: RedisClient['evaluate'];
  /** Addresses of the nodes that serve slots. */
  readonly masters: ReadonlySet<string>;
  /** Address of the node that serves a slot; undefined if unknown. */
  ownerOf(slot: number): string | undefined;
  node(address: string): Pick<RedisClient, 'connect' | 'cork' | 'cut' | 'letMessagesLead'> | undefined;
  /** Creates a separate connection to a node for listening. It connects at its first use, and only once. */
  listener(address: string): RedisClient | undefined;
  /** Reads the slot map again, because it was found to be outdated. */
  refresh(): void;
  close(): void;
}
