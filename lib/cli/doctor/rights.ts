import { literally } from '../../store/redis/scan-names.js';
import { CHECKED } from '../../store/scripts/functions/request.js';
import type { Patient } from './patient.js';

/** Key patterns, channel patterns and commands of an ACL. */
type Rights = readonly string[];

/** Commands that the trial of each connection does not check. */
export const READS = ['GET', 'ZCARD'];

const COMMANDS: Rights = ['EVAL', 'EVALSHA', 'SUBSCRIBE', 'PUBLISH', 'TIME', ...READS, ...CHECKED].map(
  (command) => `+${command.toLowerCase()}`,
);

const CLUSTER_COMMANDS: Rights = [
  '+ssubscribe',
  '+sunsubscribe',
  '+spublish',
  '+asking',
  '+cluster|slots',
  '+cluster|info',
];

/** Lets ioredis wait while a restarted Redis loads its data. Without it, ioredis prints a warning at each connect. */
export const READY_CHECK_RIGHT = '+info';

/** The rights that the Redis user of an application needs. */
export function rightsFor(keyPrefix: string): Rights {
  const prefix = literally(keyPrefix);
  return [`~${prefix}*`, `&${prefix}inbox:*`, ...COMMANDS];
}

/** The rights that a Redis Cluster requires in addition. */
export function clusterRightsFor(keyPrefix: string): Rights {
  return [`&${literally(keyPrefix)}{*}:inbox:*`, ...CLUSTER_COMMANDS];
}

/** The command with which an administrator grants the checked user every right that locks need. */
export function grantOf({ redis, settings, isOfCluster }: Patient): string {
  const prefix = settings.keySpace.before;
  const { username, db = 0 } = redis.options;
  const further = [...(isOfCluster ? clusterRightsFor(prefix) : []), ...(db > 0 ? ['+select'] : [])];
  const rights = [...rightsFor(prefix), READY_CHECK_RIGHT, ...further];
  return `ACL SETUSER ${username || 'default'} ${rights.join(' ')}`;
}
