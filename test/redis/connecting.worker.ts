import { executionAsyncId } from 'node:async_hooks';
import { inspect } from 'node:util';
import type { RedisOptions } from 'ioredis';
import { createClient, createCluster, createSentinel } from 'redis';
import { isLockError } from '../../lib/errors/lock.error.js';
import type { ClusterDescription, NodeRedisConnection } from '../../lib/options/module-options.interface.js';
import { nodeRedis } from '../../lib/node-redis/index.js';
import { serveCalls } from '../support/serve-calls.js';
import { Instance } from './instance.js';

const unhandled: string[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(inspect(reason)));
process.on('uncaughtException', (error) => unhandled.push(inspect(error)));

/** Everything that an application may come to see of a Redis that it cannot use. */
export interface Outcome {
  readonly code: string | undefined;
  readonly message: string;
  /** The error, its causes and what hangs on them, as a logger would print it. */
  readonly printed: string;
  readonly causes: readonly string[];
  readonly logged: readonly string[];
  readonly unhandled: readonly string[];
}

/** A topology over node-redis, whose clients cannot be passed to another process. */
type NodeRedisTarget =
  | { readonly url: string }
  | { readonly nodes: string }
  | { readonly sentinel: { host: string; port: number } };

function clientOf(target: NodeRedisTarget): NodeRedisConnection {
  if ('url' in target) return nodeRedis(createClient({ url: target.url }));
  if ('nodes' in target) return nodeRedis(createCluster({ rootNodes: [{ url: target.nodes }] }));
  return nodeRedis(createSentinel({ name: 'master', sentinelRootNodes: [target.sentinel] }));
}

const calls = {
  async attemptByNodeRedis(target: NodeRedisTarget): Promise<Outcome> {
    return calls.attempt(clientOf(target));
  },

  async attempt(
    connection: string | RedisOptions | ClusterDescription | NodeRedisConnection,
    timeout = 500,
  ): Promise<Outcome> {
    const instance = new Instance({ connection, outageTimeout: timeout, commandTimeout: timeout });
    const error: unknown = await instance.locks.acquire('n').then(
      (lock) => lock.release(),
      (reason: unknown) => reason,
    );
    const query: unknown = await instance.locks.query('n').catch((reason: unknown) => reason);
    await instance.locks.close();
    const causes: string[] = [];
    for (let each: unknown = error; each instanceof Error; each = each.cause) {
      causes.push(each.message, String(each.stack), JSON.stringify(each));
    }
    return {
      code: isLockError(error) ? error.code : undefined,
      message: error instanceof Error ? error.message : '',
      printed: inspect([error, query], { depth: 10, showHidden: true }),
      causes,
      logged: instance.logged,
      unhandled,
    };
  },

  /** Whether Node keeps a record of each promise of this process once there was a lock over node-redis. */
  async isSlowedDown(url: string): Promise<boolean> {
    await using instance = new Instance({ connection: nodeRedis(createClient({ url })) });
    const lock = await instance.locks.acquire('n');
    await lock.release();
    return (await Promise.resolve().then(executionAsyncId)) !== 0;
  },
};

export type ConnectingCalls = typeof calls;

serveCalls(calls);
