import { joined, type LuaTag } from '../lua-text.js';

/** A function of Lua that scripts have in common. */
export interface LuaFunction {
  /** What has to stand before it. */
  readonly needs: readonly LuaFunction[];
  readonly lua: string;
}

/** Makes one of the text behind it. */
export function luaFunction(...needs: readonly LuaFunction[]): LuaTag<LuaFunction> {
  return (...text) => ({ needs, lua: joined(...text) });
}

/** The text of functions and of all that they need, each once and after its needs. */
export function include(...functions: readonly LuaFunction[]): string {
  return includeBelow([], ...functions);
}

/** The same within the reach of `outer` functions, which stand there already. */
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
