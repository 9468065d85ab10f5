import { luaScript } from './lua-script.js';

/**
 * Scans a part of the keys of a server, as SCAN does.
 *
 * KEYS  1 any key; on a Cluster it selects the node
 * ARGV  1 cursor, 2 pattern, 3 number of keys to scan
 * Reply { next cursor, `0` at the end, { key, … } }
 *
 * O(n) for n scanned keys.
 */
export const scanScript = luaScript('scan')`
local reply = redis.pcall('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3])
-- Redis does not say which command of a script the user may not run.
return reply.err and redis.error_reply('NOPERM A list takes the right +scan: ' .. reply.err) or reply
`;
