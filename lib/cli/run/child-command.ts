import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { CommandError, ExitCode } from '../exit-code.js';

/**
 * A command in a process group of its own, so that a signal reaches what it has forked, too, and Ctrl-C in a terminal comes
 * to it once: from us.
 */
export class ChildCommand {
  private isOver = false;

  private constructor(
    private readonly child: ChildProcess,
    /** Settles when the command has ended, with its exit code, 128 and more where a signal ended it. */
    readonly ended: Promise<number>,
  ) {
    void ended.then(() => (this.isOver = true));
  }

  /** @throws CommandError where it cannot be started, with the exit code of shells. */
  static async start(
    [program = '', ...args]: readonly string[],
    env: NodeJS.ProcessEnv,
  ): Promise<ChildCommand> {
    const child = spawn(program, args, { stdio: 'inherit', detached: true, env });
    const ended = once(child, 'exit').then(([code, signal]) => exitCodeOf(code, signal));
    // It fails where the program cannot be started; that is told below.
    ended.catch(() => {});
    await once(child, 'spawn').catch((error: NodeJS.ErrnoException) => {
      const exitCode = error.code === 'ENOENT' ? ExitCode.notFound : ExitCode.notExecutable;
      throw new CommandError(`The command ${program} cannot be started: ${error.message}`, exitCode);
    });
    return new ChildCommand(child, ended);
  }

  /** Sends a signal to the command and what it has forked. */
  signal(signal: NodeJS.Signals): void {
    if (!this.isOver) this.toGroup(signal);
  }

  /** Ends all of it: politely at first, by SIGKILL after so many milliseconds, or when only what it forked is left. */
  async end(patience: number): Promise<void> {
    this.toGroup('SIGTERM');
    // What was stopped hears of nothing.
    this.toGroup('SIGCONT');
    const timer = setTimeout(() => this.toGroup('SIGKILL'), patience);
    await this.ended;
    clearTimeout(timer);
    this.toGroup('SIGKILL');
  }

  private toGroup(signal: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // Nobody of the group is there any more.
    }
  }
}

function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}
