import { luaScript } from './lua-script.js';

/**
 * Reads or deletes the marks of names.
 *
 * KEYS  marks
 * ARGV  1 MGET or DEL
 * Reply { mark or false, … }, or the number of deleted marks
 *
 * O(n) for n marks.
 */
export const marksScript = luaScript('marks')`
return redis.call(ARGV[1], unpack(KEYS))
`;
