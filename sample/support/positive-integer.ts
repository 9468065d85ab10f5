/** @throws Error that names the option when its value is no whole number above 0. */
export function positiveInteger(option: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new Error(`--${option} takes a whole number above 0, not ${text}`);
}
