/** A value that the order of events guarantees. */
export function sure<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('A value is missing that the order of events guarantees.');
  return value;
}
