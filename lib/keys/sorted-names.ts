/** Every caller takes several names in this one order, so that no two of them can wait for each other. */
export function sortedNames(names: readonly string[]): string[] {
  return [...new Set(names)].toSorted();
}
