import { parseArgs } from 'node:util';

export interface RunOptions {
  /** End after the table instead of serving on. */
  readonly exit: boolean;
  /** Print JSON instead of the table. */
  readonly json: boolean;
  readonly stock: number;
  readonly buyers: number;
  /** Milliseconds that each payment takes. */
  readonly payment: number;
}

/** @throws Error that names an option that is unknown or has no sensible value. */
export function parseRunOptions(args: readonly string[]): RunOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      exit: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      stock: { type: 'string', default: '100' },
      buyers: { type: 'string', default: '600' },
      payment: { type: 'string', default: '20' },
    },
  });
  return {
    exit: values.exit,
    json: values.json,
    stock: positiveInteger('stock', values.stock),
    buyers: positiveInteger('buyers', values.buyers),
    payment: positiveInteger('payment', values.payment),
  };
}

function positiveInteger(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new Error(`--${name} takes a whole number above 0, not ${text}`);
}
