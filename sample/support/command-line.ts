import { parseArgs, type ParseArgsConfig } from 'node:util';

/** A whole number that a sample can be told. */
export interface NumberOption {
  /** Stands for the value in the usage: `n`, `ms`. */
  readonly unit: string;
  readonly means: string;
  readonly default: number;
  /** The smallest value that makes sense, 1 if not given. */
  readonly least?: number;
}

/** What can be said behind the command that starts a sample. */
export interface CommandLine {
  readonly command: string;
  /** Options without a value, and what they do. */
  readonly switches: Readonly<Record<string, string>>;
  readonly numbers: Readonly<Record<string, NumberOption>>;
  /** The variables that it looks at, as a sentence. */
  readonly environment: string;
}

/** What was said. */
export type Options<Line extends CommandLine> = Readonly<
  Record<keyof Line['switches'], boolean> & Record<keyof Line['numbers'], number>
>;

/** An option that a sample does not know, or an unusable value. */
export class UsageError extends Error {}

/** Every sample takes `--exit`, for scripts that run them all. */
const EXIT = 'end after the result, as this sample does anyway';

/** @throws UsageError that names the option. */
export function parseOptions<Line extends CommandLine>(
  { switches, numbers }: Line,
  args: readonly string[],
): Options<Line> {
  const known: NonNullable<ParseArgsConfig['options']> = { exit: { type: 'boolean', default: false } };
  for (const name of Object.keys(switches)) known[name] = { type: 'boolean', default: false };
  for (const name of Object.keys(numbers)) known[name] = { type: 'string' };
  const values = valuesOf(args, known);
  const counted = Object.entries(numbers).map(([name, option]) => {
    return [name, wholeNumber(name, option, values[name])] as const;
  });
  // fromEntries does not know the names.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { ...values, ...Object.fromEntries(counted) } as Options<Line>;
}

/** What `--help` prints. */
export function usageOf({ command, switches, numbers, environment }: CommandLine): string {
  const lines = [
    ...Object.entries({ exit: EXIT, ...switches }).map(([name, means]) => [`--${name}`, means] as const),
    ...Object.entries(numbers).map(
      ([name, { unit, means, default: value }]) => [`--${name} <${unit}>`, `${means} (${value})`] as const,
    ),
    ['--help', 'print this'] as const,
  ];
  const width = Math.max(...lines.map(([option]) => option.length));
  const options = lines.map(([option, means]) => `  ${option.padEnd(width)}   ${means}`);
  return [`${command} -- [options]`, '', ...options, '', environment].join('\n');
}

function wholeNumber(name: string, { default: value, least = 1 }: NumberOption, given: unknown): number {
  if (typeof given !== 'string') return value;
  const number = Number(given);
  if (Number.isSafeInteger(number) && number >= least) return number;
  throw new UsageError(`--${name} takes a whole number from ${least} on, not ${given}.`);
}

function valuesOf(
  args: readonly string[],
  options: NonNullable<ParseArgsConfig['options']>,
): Readonly<Record<string, unknown>> {
  const { values, tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind === 'positional') throw new UsageError(`${token.value} is no option.`);
    if (token.kind !== 'option') continue;
    const option = options[token.name];
    if (!option) throw new UsageError(`There is no option ${token.rawName}.`);
    const hasValue = token.value !== undefined;
    if (hasValue !== (option.type === 'string'))
      throw new UsageError(`${token.rawName} takes ${hasValue ? 'no value' : 'a value'}.`);
  }
  return values;
}
