/** Returns what `look` finds; undefined if it throws, as accessors and traps of a user's value may. */
export function tryTo<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** The elements of an array as JSON; none for any other text. */
export function listIn(json: string): readonly unknown[] {
  const value: unknown = tryTo(() => JSON.parse(json));
  return Array.isArray(value) ? value : [];
}
