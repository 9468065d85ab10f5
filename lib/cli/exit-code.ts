/** Exit codes of the commands, from `sysexits.h` where it has one. */
export const ExitCode = {
  done: 0,
  /** `query`: the name is free. `release`: the name was free. */
  free: 1,
  /** `release`: not confirmed, or another instance holds the name now. */
  declined: 2,
  usage: 64,
  unavailable: 69,
  failed: 70,
  busy: 75,
  lost: 76,
  notExecutable: 126,
  notFound: 127,
  /** The reader of the output has closed it, as for a program that SIGPIPE ends. */
  brokenPipe: 141,
} as const;

/** Ends a command with a sentence for its user. */
export class CommandError extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
  ) {
    super(message);
  }
}
