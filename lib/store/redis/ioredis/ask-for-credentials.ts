import type { Redis } from 'ioredis';
import type { LockCredentials } from '../../../options/module-options.interface.js';
import type { Credentials, CredentialsUser } from '../connection/credentials.js';
import { abandon } from './abandon.js';

/** As much as is used here of what ioredis keeps to itself: by its own interface it has its credentials once and for all. */
interface Internals {
  readonly connector: {
    connect: (emit: (...args: readonly unknown[]) => void) => Promise<unknown>;
    disconnect: () => void;
  };
  /** Of the connection that is being made. */
  readonly condition: { auth: unknown };
}

const REFUSAL = /^(ERR|NOAUTH|NOPERM|WRONGPASS)/;

/** Has a client ask before each connection, and go on with what is renewed. Returns what ends it. */
export function askForCredentials(redis: Redis, credentials: Credentials): () => void {
  const { connector } = redis as unknown as Internals;
  const connect = connector.connect.bind(connector);
  const disconnect = connector.disconnect.bind(connector);
  const user = new User(redis);
  const remove = credentials.add(user);
  let attempts = 0;
  connector.connect = async (emit) => {
    const attempt = (attempts += 1);
    await credentials.ask();
    if (attempt !== attempts) throw new Error('The connection was closed.');
    (redis as unknown as Internals).condition.auth = user.auth;
    return connect(emit);
  };
  connector.disconnect = () => {
    attempts += 1;
    disconnect();
  };
  return remove;
}

class User implements CredentialsUser {
  private readonly name: string | undefined;

  constructor(private readonly redis: Redis) {
    this.name = redis.options.username;
  }

  /** Clients that ioredis makes by itself take these, too. */
  adopt({ username = this.name, password }: LockCredentials): void {
    Object.assign(this.redis.options, { username, password });
  }

  get auth(): string | [username: string, password: string] {
    const { username, password = '' } = this.redis.options;
    return username === undefined ? password : [username, password];
  }

  async renew(): Promise<void> {
    const { auth, redis } = this;
    if (redis.status !== 'ready') return;
    // With RESP2 a connection that listens takes no AUTH: the next one begins with the new credentials.
    if (redis.mode === 'subscriber') return abandon(redis.stream);
    await (typeof auth === 'string' ? redis.auth(auth) : redis.auth(...auth)).catch((error: unknown) => {
      // One that was lost meanwhile asks for itself.
      if (error instanceof Error && REFUSAL.test(error.message)) throw error;
    });
  }
}
