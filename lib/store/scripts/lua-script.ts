import { createHash } from 'node:crypto';
import { attempt } from './functions/request.js';
import { include, joined, type LuaTag } from './functions/lua-function.js';

/** A Lua script and the SHA-1 digest by which Redis caches it. */
export interface LuaScript {
  /** Name for error messages and logs. */
  readonly name: string;
  readonly lua: string;
  readonly sha: string;
  /** Whether it handles requests for several names, with one reply at each position. */
  readonly takesSeveral?: boolean;
  /** Whether it runs so rarely that a server is unlikely to know it. It is then sent in full, which takes one trip. */
  readonly isRare?: boolean;
}

/**
 * Creates a script for several requests from a script for one: three keys for each request, and the number of arguments
 * before them. Replies are in the order of the requests, with errors for refused ones.
 */
export function luaScriptForEach(name: string): LuaTag<LuaScript> {
  return (...text) => ({
    ...luaScript(name)`${include(attempt)}
local function one(KEYS, ARGV)
${joined(...text)}
end
local reply, at = {}, 1
for i = 1, #KEYS / 3 do
  local last = at + ARGV[at]
  reply[i] = attempt(one, { unpack(KEYS, 3 * i - 2, 3 * i) }, { unpack(ARGV, at + 1, last) })
  at = last + 1
end
return reply
`,
    takesSeveral: true,
  });
}

/** Creates a script with a name and its digest from a template. */
export function luaScript(name: string): LuaTag<LuaScript> {
  return (...text) => {
    const lua = joined(...text);
    return { name, lua, sha: createHash('sha1').update(lua).digest('hex') };
  };
}
