import { createHash } from 'node:crypto';

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

/** Creates a script with a name and its digest from a template. */
export function luaScript(name: string): LuaTag<LuaScript> {
  return (...text) => {
    const lua = joined(...text);
    return { name, lua, sha: createHash('sha1').update(lua).digest('hex') };
  };
}

/** A tag of templates with Lua text. */
export type LuaTag<T> = (strings: TemplateStringsArray, ...values: readonly (string | number)[]) => T;

/** Joins the text of a template. */
export const joined: LuaTag<string> = (strings, ...values) => String.raw({ raw: strings }, ...values);

/** A Lua function that scripts share. */
export interface LuaFunction {
  /** The functions that must precede it. */
  readonly needs: readonly LuaFunction[];
  readonly lua: string;
}

/** Creates a Lua function from a template. */
export function luaFunction(...needs: readonly LuaFunction[]): LuaTag<LuaFunction> {
  return (...text) => ({ needs, lua: joined(...text) });
}

/** The text of functions and of their dependencies, each once and after its dependencies. */
export function include(...functions: readonly LuaFunction[]): string {
  return includeBelow([], ...functions);
}

/** The text of functions within the scope of `outer` functions, which it omits. */
export function includeBelow(outer: readonly LuaFunction[], ...functions: readonly LuaFunction[]): string {
  const above = inOrder(outer);
  return [...inOrder(functions)]
    .filter((each) => !above.has(each))
    .map(({ lua }) => lua)
    .join('');
}

function inOrder(functions: readonly LuaFunction[], done = new Set<LuaFunction>()): Set<LuaFunction> {
  for (const each of functions) inOrder(each.needs, done).add(each);
  return done;
}
