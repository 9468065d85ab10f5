import type { Redis } from 'ioredis';
import type { LockCredentials } from '../../../options/module-options.interface.js';
import type { Credentials, CredentialsUser } from '../connection/credentials.js';
import { isPermanent } from '../connection/redis-error.js';
import { abandon } from './sockets.js';

/** The internals of ioredis that this file uses, because its interface accepts credentials only once. */
interface Internals {
  readonly connector: {
    connect: (emit: (...args: readonly unknown[]) => void) => Promise<unknown>;
    disconnect: () => void;
  };
  /** The state of the connection attempt. */
  readonly condition: { auth: unknown };
}

/**
 * Makes a client request credentials before each connection and adopt renewed ones. Returns a function that stops the
 * requests.
 */
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
    // Without a user, ioredis has null there.
    this.name = redis.options.username ?? undefined;
  }

  /** Sets the credentials, also for clients that ioredis derives from this one. */
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
    // With RESP2, a listening connection rejects AUTH: the next connection begins with the new credentials.
    if (redis.mode === 'subscriber') return abandon(redis.stream);
    await (typeof auth === 'string' ? redis.auth(auth) : redis.auth(...auth)).catch((error: unknown) => {
      // A connection that was lost meanwhile requests credentials itself.
      if (isPermanent(error)) throw error;
    });
  }
}
