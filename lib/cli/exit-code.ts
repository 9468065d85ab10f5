/** What the commands end with beside what is their own; those of `sysexits.h` where there is one. */
export const ExitCode = {
  done: 0,
  /** `query`: nobody holds it. `release`: nobody held it. */
  free: 1,
  /** `release`: it was not confirmed, or somebody else holds it by now. */
  declined: 2,
  usage: 64,
  unavailable: 69,
  failed: 70,
  busy: 75,
  lost: 76,
  notExecutable: 126,
  notFound: 127,
  /** Whoever read the output has gone, as with a program that SIGPIPE ends. */
  brokenPipe: 141,
} as const;

/** Ends a command with a sentence for whoever called it. */
export class CommandError extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
  ) {
    super(message);
  }
}
