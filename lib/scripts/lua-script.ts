import { createHash } from 'node:crypto';

/** A Lua script and the SHA-1 digest by which Redis caches it. */
export interface LuaScript {
  /** For error messages and logs. */
  readonly name: string;
  readonly lua: string;
  readonly sha: string;
}

/** Gives a script its digest. */
export function luaScript(name: string, lua: string): LuaScript {
  return { name, lua, sha: createHash('sha1').update(lua).digest('hex') };
}
