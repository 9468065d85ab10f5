/** Returns what `look` finds; undefined if it throws, as accessors and traps of a user's value may. */
export function tryTo<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
