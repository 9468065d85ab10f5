/** What makes something of a template of Lua text. */
export type LuaTag<T> = (strings: TemplateStringsArray, ...values: readonly (string | number)[]) => T;

/** The text of a template. */
export const joined: LuaTag<string> = (strings, ...values) => String.raw({ raw: strings }, ...values);
