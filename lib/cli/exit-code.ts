/** Exit codes of the commands, from `sysexits.h` where it has one. */
export const ExitCode = {
  /** Success. `query`: the name is held. `run`: the command's own code, or `--skip` and the lock is taken. */
  done: 0,
  /** `query`, `release`: the name is free. `forget`: no result is kept. `doctor`: the worst finding is `!`. */
  free: 1,
  /** `release`: not confirmed, or another instance holds the name now. `doctor`: the worst finding is `✗`. */
  declined: 2,
  /** Invalid command line. */
  usage: 64,
  /** Redis is unreachable or rejects the request; `run` has not started the command. */
  unavailable: 69,
  /** A defect of this package. */
  failed: 70,
  /** `run`: the lock is taken. */
  busy: 75,
  /** `run`: the lock was lost, and `run` ended the command. */
  lost: 76,
  /** `run`: the command cannot be started. */
  notExecutable: 126,
  /** `run`: the command does not exist. */
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
