import { type CommandLine, type Options, parseOptions, UsageError, usageOf } from './command-line.js';

/** @returns whether all went as it should. */
export type Sample<Line extends CommandLine> = (
  options: Options<Line>,
  interruption: AbortSignal,
) => Promise<boolean>;

/**
 * Runs a sample with the arguments of this process, until it ends or Ctrl-C interrupts it.
 *
 * The sample ends what it started on its way out. The exit code is 0 if all went as it should, 1 if not, 2 for wrong
 * options, and 130 after Ctrl-C. `--help` prints the usage instead.
 */
export async function runSample<Line extends CommandLine>(line: Line, sample: Sample<Line>): Promise<void> {
  process.exitCode = await exitCode(line, sample);
}

async function exitCode<Line extends CommandLine>(line: Line, sample: Sample<Line>): Promise<number> {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    console.log(usageOf(line));
    return 0;
  }
  const interruption = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => interruption.abort());
  try {
    return (await sample(parseOptions(line, args), interruption.signal)) ? 0 : 1;
  } catch (error) {
    if (interruption.signal.aborted) return 130;
    if (error instanceof UsageError) {
      console.error(`${error.message}\n\n${usageOf(line)}`);
      return 2;
    }
    console.error(error);
    return 1;
  }
}
