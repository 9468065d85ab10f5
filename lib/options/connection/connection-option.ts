import { LockConfigError } from '../../errors/lock.error.js';
import type { LockConnection } from '../module-options.interface.js';
import {
  assertClusterDescription,
  assertShardedPubSub,
  isClusterClient,
  isNodeRedis,
} from './cluster-option.js';
import { tryTo } from '../../primitives/try-to.js';
import { assertOptionsObject, type OptionCheck, refuseOption, wholeNumber } from '../option-checks.js';
import { redactedConnection, BAD_ESCAPE, hasBadEscape } from '../redacted-connection.js';
import { hasRedisScheme, queryProblem } from './redis-url.js';

const ALLOWED =
  'a redis://, rediss://, valkey:// or valkeys:// URL such as redis://127.0.0.1:6379/0, an object of ioredis options, ' +
  '{ nodes, options } of a Redis Cluster, or an ioredis client';

/** The connection of a process that keeps its locks in its own memory. */
export const MEMORY = 'memory';

/** Properties of objects that ioredis would take for options without an address, and so connect to 127.0.0.1. */
const FOREIGN = {
  href: 'is a URL object: pass its text, url.href',
  url: 'has a url, which ioredis ignores: pass the URL itself, as text',
  evalSha: 'is a client of node-redis: pass nodeRedis(client) of nest-redis-lock/node-redis',
  socket: 'has options of node-redis: pass nodeRedis(createClient(options)) of nest-redis-lock/node-redis',
};

const PORT = wholeNumber(1, 65_535);
const DATABASE = wholeNumber(0);

/**
 * Rejects a connection that can never work. Messages show a URL without its credentials, and never show options, which
 * may contain a password anywhere.
 */
export function assertConnection(connection: unknown): asserts connection is LockConnection {
  if (connection === undefined) {
    throw new LockConfigError(
      'connection is undefined: is its environment variable missing? ' +
        'Leave connection out for 127.0.0.1:6379.',
    );
  }
  if (typeof connection === 'string') return assertUrl(connection);
  if (isNodeRedis(connection)) return;
  for (const [property, problem] of Object.entries(FOREIGN))
    if (Reflect.get(Object(connection) as object, property) !== undefined)
      throw new LockConfigError(`connection ${problem}.`);
  assertOptionsObject('connection', connection, ALLOWED);
  if (isClusterClient(connection)) return assertShardedPubSub();
  if ('nodes' in connection && !('evalsha' in connection)) return assertClusterDescription(connection);
  assertNumericField(connection, 'port', PORT);
  assertNumericField(connection, 'db', DATABASE);
  assertSentinels(connection);
}

function assertUrl(text: string): void {
  const problem = urlProblem(text);
  if (problem !== undefined) throw new LockConfigError(`connection ${problem}. It must be ${ALLOWED}.`);
}

/** What is wrong with the URL of a connection, without its credentials; undefined if nothing is. */
export function urlProblem(text: string): string | undefined {
  if (text.trim() === '') return 'is an empty string (an empty environment variable?)';
  if (text === MEMORY) return "'memory' is the memory of one process, which nothing outside of it reaches";
  const problem = problemOf(text);
  return problem && `${redactedConnection(text)} ${problem}`;
}

function problemOf(text: string): string | undefined {
  const url = tryTo(() => new URL(text));
  if (url === undefined) return 'is not a valid URL';
  if (!hasRedisScheme(text)) return 'is not a redis:// or rediss:// URL';
  if (url.hostname === '') return 'has no host';
  if (hasBadEscape(text)) return BAD_ESCAPE;
  if (!/^\/?\d*$/.test(url.pathname)) return 'has a path that is not a database number';
  return queryProblem(text);
}

function assertNumericField(connection: object, field: string, check: OptionCheck): void {
  // ioredis has already checked the `options` of a client.
  const value: unknown = Reflect.get(connection, field);
  if (value === undefined || value === null) return;
  const isNumeric = typeof value === 'string' && value.trim() !== '';
  check(`connection.${field}`, isNumeric && !Number.isNaN(Number(value)) ? Number(value) : value);
}

/** Rejects ioredis options with sentinels that can never lead to a master. */
function assertSentinels(connection: object): void {
  if (!('sentinels' in connection) || connection.sentinels === undefined || connection.sentinels === null)
    return;
  const { sentinels } = connection;
  if (!Array.isArray(sentinels) || sentinels.length === 0)
    refuseOption('connection.sentinels', sentinels, 'an array of at least one { host, port }');
  const name: unknown = 'name' in connection ? connection.name : undefined;
  if (typeof name !== 'string' || name === '')
    refuseOption('connection.name', name, 'the name under which the sentinels know the master');
  if ('role' in connection && connection.role === 'slave') {
    throw new LockConfigError(
      "connection.role is 'slave', but a replica grants no locks: omit role for the master.",
    );
  }
}
