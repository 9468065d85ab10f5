import { constants } from 'node:os';
import { LockTimeoutError } from '../errors/lock-timeout.error.js';
import type { Lock } from '../engine/hold/lock.interface.js';
import type { LockOptions } from '../options/lock-options.interface.js';
import type { LockService } from '../service/lock.service.js';
import { MAX_LABEL_BYTES } from '../options/option-table.js';
import type { ConnectionFlags } from './connection-flags.js';
import { CommandError, ExitCode } from './exit-code.js';
import { printable, printError } from './output.js';
import { ChildCommand } from './run/child-command.js';

export interface RunFlags extends ConnectionFlags {
  readonly wait?: number;
  readonly ttl?: number;
  readonly limit?: number;
  readonly permits?: number;
  readonly minHold?: number;
  readonly skip?: boolean;
  readonly killAfter: number;
}

/** Signals that end a command by default, and signals that a command handles. */
const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2', 'SIGWINCH'] as const;
const ENDING: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
/** Milliseconds of retries while Redis does not answer, within the wait. */
const OUTAGE = 5_000;

/** Runs a command while it holds the name. */
export async function run(
  locks: LockService,
  name: string,
  command: readonly string[],
  flags: RunFlags,
): Promise<number> {
  if (!command[0])
    throw new CommandError('Write the command after --: run <name> -- <command>', ExitCode.usage);
  const interruption = new Interruption();
  // Connects first: a short wait must not include the time to connect.
  await locks.query(name);
  let lock: Lock;
  try {
    lock = await locks.acquire(name, lockOptions(command, flags, interruption.signal));
  } catch (error) {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    if (!(error instanceof LockTimeoutError)) throw error;
    printError(busyMessage(name, error));
    return flags.skip ? ExitCode.done : ExitCode.busy;
  }
  try {
    return await runWhileHeld(lock, name, command, { ...flags, interruption });
  } finally {
    await lock.release();
  }
}

async function runWhileHeld(
  lock: Lock,
  name: string,
  command: readonly string[],
  { interruption, killAfter }: RunFlags & { readonly interruption: Interruption },
): Promise<number> {
  // A signal may have arrived with the grant.
  if (interruption.exitCode !== undefined) return interruption.exitCode;
  const env = { ...process.env, LOCK_NAME: name, LOCK_TOKEN: String(lock.fencingToken) };
  const child = await ChildCommand.start(command, env);
  interruption.passOn((signal) => child.signal(signal));
  let ending: Promise<void> | undefined;
  const endCommand = (): void => {
    printError(`The lock ${name} was lost; ending the command. ${reasonOf(lock.signal)}`);
    ending = child.end(killAfter);
  };
  if (lock.signal.aborted) endCommand();
  else lock.signal.addEventListener('abort', endCommand, { once: true });
  const exitCode = await child.ended;
  lock.signal.removeEventListener('abort', endCommand);
  if (ending === undefined) return exitCode;
  await ending;
  return ExitCode.lost;
}

function lockOptions(
  command: readonly string[],
  { wait, ttl, limit, permits, minHold }: RunFlags,
  signal: AbortSignal,
): LockOptions {
  const mode = limit === undefined ? 'exclusive' : 'shared';
  return { signal, outageTimeout: OUTAGE, label: labelOf(command), wait, ttl, minHold, mode, limit, permits };
}

/** The label of the hold: the program without its arguments, which may be secret. */
function labelOf([program = '']: readonly string[]): string {
  const label = `run ${printable(program)}`;
  return Buffer.from(label)
    .subarray(0, MAX_LABEL_BYTES)
    .toString()
    .replace(/\uFFFD$/, '');
}

function busyMessage(name: string, { holder }: LockTimeoutError): string {
  const { owner, label } = holder ?? {};
  const who = owner === undefined ? '' : ` by ${owner}`;
  return printable(`${name} is held${who}${label === undefined ? '' : ` (${label})`}.`);
}

function reasonOf({ reason }: AbortSignal): string {
  return reason instanceof Error ? reason.message : '';
}

/** Handles signals to this process: they end the wait for the lock, or are passed on to the running command. */
class Interruption {
  private early: (typeof PASSED_ON)[number] | undefined;
  private readonly controller = new AbortController();
  private target: ((signal: NodeJS.Signals) => void) | undefined;

  constructor() {
    for (const signal of PASSED_ON) process.on(signal, () => this.take(signal));
    // A stopped process would not renew its lease, while the command would continue.
    process.on('SIGTSTP', () => {});
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** 128 plus the number of a signal that arrived before the command started. */
  get exitCode(): number | undefined {
    return this.early && 128 + constants.signals[this.early];
  }

  passOn(target: (signal: NodeJS.Signals) => void): void {
    this.target = target;
    // The signal arrived while the command was starting.
    if (this.early) target(this.early);
  }

  private take(signal: (typeof PASSED_ON)[number]): void {
    if (this.target) return this.target(signal);
    if (!ENDING.includes(signal)) return;
    this.early ??= signal;
    this.controller.abort();
  }
}
