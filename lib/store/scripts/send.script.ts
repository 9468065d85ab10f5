import { luaScript } from './lua-script.js';

/**
 * Sends a message to an instance.
 *
 * KEYS  1 a lock, which selects the node of a Cluster
 * ARGV  1 channel, with a hash tag in the slot of that lock, 2 message
 * Reply number of receivers, on a Cluster at this node
 *
 * O(1) for an instance that listens once.
 */
export const sendScript = luaScript('send')`
return redis.call(string.find(ARGV[1], '{', 1, true) and 'SPUBLISH' or 'PUBLISH', ARGV[1], ARGV[2])
`;
