/** Fails with both sides where the scripts and their model in memory differ. */
export function assertEqual(what: string, scripts: unknown, memory: unknown): void {
  const [one, other] = [scripts, memory].map((each) => JSON.stringify(each, plain) ?? 'undefined');
  if (one !== other) throw new Error(`${what} differs:\n  scripts ${one}\n  memory  ${other}`);
}

/** Fields in one order, infinite numbers told from null. */
function plain(_: string, value: unknown): unknown {
  if (value === Infinity) return 'Infinity';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
