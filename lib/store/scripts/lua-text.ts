/** A tag of templates with Lua text. */
export type LuaTag<T> = (strings: TemplateStringsArray, ...values: readonly (string | number)[]) => T;

/** Joins the text of a template. */
export const joined: LuaTag<string> = (strings, ...values) => String.raw({ raw: strings }, ...values);
