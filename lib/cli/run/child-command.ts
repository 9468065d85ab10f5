import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { CommandError, ExitCode } from '../exit-code.js';

/**
 * A command in its own process group. A signal also reaches its children, and Ctrl-C in a terminal reaches it once,
 * from this process.
 */
export class ChildCommand {
  private isOver = false;

  private constructor(
    private readonly child: ChildProcess,
    /** Settles when the command has ended, with its exit code, or 128 plus the signal that ended it. */
    readonly ended: Promise<number>,
  ) {
    void ended.then(() => (this.isOver = true));
  }

  /** @throws CommandError with the exit code of shells, if the command cannot be started. */
  static async start(
    [program = '', ...args]: readonly string[],
    env: NodeJS.ProcessEnv,
  ): Promise<ChildCommand> {
    try {
      const child = spawn(program, args, { stdio: 'inherit', detached: true, env });
      const ended = once(child, 'exit').then(([code, signal]) => exitCodeOf(code, signal));
      // Rejects if the program cannot be started, which is reported below.
      ended.catch(() => {});
      await once(child, 'spawn');
      return new ChildCommand(child, ended);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const exitCode = code === 'ENOENT' ? ExitCode.notFound : ExitCode.notExecutable;
      throw new CommandError(`The command ${program} cannot be started: ${message}`, exitCode);
    }
  }

  /** Sends a signal to the command and its children. */
  signal(signal: NodeJS.Signals): void {
    if (!this.isOver) this.toGroup(signal);
  }

  /**
   * Ends the command and its children: by SIGTERM, then by SIGKILL after `killAfter` ms, or when only children are left.
   */
  async end(killAfter: number): Promise<void> {
    this.toGroup('SIGTERM');
    // A stopped process does not receive SIGTERM.
    this.toGroup('SIGCONT');
    const timer = setTimeout(() => this.toGroup('SIGKILL'), killAfter);
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
      // No process of the group exists any more.
    }
  }
}

function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}
