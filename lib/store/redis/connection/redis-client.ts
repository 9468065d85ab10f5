import type { LuaScript } from '../../scripts/lua-script.js';

/**
 * What a store needs of a client of Redis, whoever has written it. All that is peculiar to one of them is behind these
 * interfaces, in its adapter.
 */

/** `idle`: nobody has connected it yet. `reconnecting`: it knows that its server cannot be reached. `ended`: for good. */
export type ClientState = 'idle' | 'connecting' | 'ready' | 'reconnecting' | 'ended';

/** `ssubscribe` hears what is published in a slot of this node, `subscribe` what is published anywhere. */
export type SubscribeCommand = 'ssubscribe' | 'subscribe';

/** A script to run, with what it runs on. */
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
  /** Something is wrong with the connection. Nobody else is told of it. */
  error: (error: unknown) => void;
  message: (channel: string, message: string) => void;
}

/** One connection to one server, made again whenever it is lost. */
export interface RedisClient {
  readonly state: ClientState;
  /** The address of the server to which it is connected; tells servers apart. */
  readonly peer: string;
  /** Connects, if nobody has yet. What comes of it is told by events. */
  connect(): void;
  /** Calls back until the function that is returned is called. */
  on<Event extends keyof ClientEvents>(event: Event, call: ClientEvents[Event]): () => void;
  /**
   * Runs a script by its digest, or by its text. Resolves to its reply: numbers (or texts of digits), texts, null and arrays
   * of them, in which an error stands in its place. Rejects with the server's own words where the server refuses.
   */
  evaluate(call: ScriptCall, by: 'digest' | 'text'): Promise<unknown>;
  /** Resolves to how many replicas have what this connection wrote last. */
  wait(replicas: number, timeout: number): Promise<number>;
  subscribe(command: SubscribeCommand, channel: string): Promise<void>;
  /** Ends a subscription by `ssubscribe`. */
  unsubscribe(channel: string): void;
  /** Gathers what is sent within this tick into one packet. */
  cork(): void;
  /**
   * Has the server send what the next command publishes before the answer to it: who has an answer waiting already is
   * written to last, so a command that changes nothing goes ahead in the same packet. Does nothing while nothing can be sent;
   * rejects where the server refuses it.
   */
  letMessagesLead(): Promise<void>;
  /** Gives up the connection at once, with what the system has not delivered yet. Another one is made. */
  cut(): void;
  /** Ends it, whatever state it is in. */
  close(): void;
}

/** Who a client says that it is, as far as it says so. */
export interface RedisUser {
  readonly username?: unknown;
  readonly password?: unknown;
}

/** What is known of clients before they connect. */
interface ClientSettings {
  /** Whether the clients for commands are of our own making: these are cut off when they are silent, and closed. */
  readonly isOwned: boolean;
  /** Whether it is left to the first lock to connect. */
  readonly isLazy?: boolean;
  /** Whether scripts have to be sent as text, for the client takes an unknown digest for a broken connection. */
  readonly needsText?: boolean;
  /** What the client puts before keys, but not before channels. */
  readonly keyPrefix?: string;
  /** What must not show up in texts. */
  readonly users: readonly (RedisUser | undefined)[];
}

/** The clients of one server, or of the master that sentinels name, all from one description. */
export interface RedisClients extends ClientSettings {
  readonly commands: RedisClient;
  /** Names the server to people. */
  readonly label: string;
  /** What to tell the log of this client's settings. */
  readonly warning?: string | undefined;
  /** A further client, which listens, or sends nothing again that was lost with its connection. */
  open(sendsAgain: boolean): RedisClient;
}

export interface ClusterEvents {
  ready: () => void;
  /** The map of slots has been read anew. */
  refresh: () => void;
  /** A node can be used (again). */
  nodeReady: () => void;
  nodeGone: () => void;
  error: (error: unknown) => void;
}

/** The client of a Cluster, its nodes, and which of them serves which key. Addresses are those of the slot map. */
export interface ClusterClients extends ClientSettings {
  readonly state: ClientState;
  /** Whether all masters that are known can be used, or have not been used yet. */
  readonly hasAllMasters: boolean;
  connect(): void;
  on<Event extends keyof ClusterEvents>(event: Event, call: ClusterEvents[Event]): () => void;
  /** Runs a script at the node that serves its first key, wherever that is by then. */
  evaluate: RedisClient['evaluate'];
  /** Addresses of the nodes that serve slots. */
  readonly masters: ReadonlySet<string>;
  /** Address of the node that serves a slot, as far as is known. */
  ownerOf(slot: number): string | undefined;
  node(address: string): Pick<RedisClient, 'cork' | 'cut' | 'letMessagesLead'> | undefined;
  /** A connection of its own to a node, to listen on; connects when it is first used, and once only. */
  listener(address: string): RedisClient | undefined;
  /** Reads the map of slots anew; somebody found that it is out of date. */
  refresh(): void;
  close(): void;
}
