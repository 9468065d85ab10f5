import { luaScript } from './lua-script.js';

/**
 * Reads or deletes the marks of names.
 *
 * KEYS  marks.
 * ARGV  1 GET or DEL.
 * Reply { mark or false, … }, or the number of deleted marks.
 *
 * O(n) for n marks.
 */
export const marksScript = luaScript('marks')`
if ARGV[1] == 'DEL' then
  return redis.call('DEL', unpack(KEYS))
end
local marks = {}
for i, key in ipairs(KEYS) do
  marks[i] = redis.call('GET', key)
end
return marks
`;
