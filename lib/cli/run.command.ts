import { constants } from 'node:os';
import type { LockLog } from '../diagnostics/lock-log.js';
import { LockTimeoutError } from '../errors/lock-timeout.error.js';
import type { Lock } from '../engine/hold/lock.interface.js';
import type { LockOptions } from '../options/lock-options.interface.js';
import type { ConnectionFlags } from './connection-flags.js';
import { ExitCode } from './exit-code.js';
import { printable, tell } from './output.js';
import { ChildCommand } from './run/child-command.js';
import { withLocks } from './with-locks.js';

export interface RunFlags extends ConnectionFlags {
  readonly wait?: number;
  readonly ttl?: number;
  readonly limit?: number;
  readonly minHold?: number;
  readonly skip?: boolean;
  readonly killAfter: number;
}

/** Those that end a command unless it sees to them, and those that are for it to see to. */
const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2', 'SIGWINCH'] as const;
const ENDING: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
const LABEL_BYTES = 128;
/** Milliseconds for which a lock is asked for where Redis does not answer, within the wait. */
const OUTAGE = 5_000;

const LOG: LockLog = { log: tell, warn: tell, error: tell };

/** Runs a command while the name is held. */
export async function run(name: string, command: readonly string[], flags: RunFlags): Promise<number> {
  const interruption = new Interruption();
  return withLocks(
    flags,
    async (locks) => {
      // To connect is no part of the wait, which may be short.
      await locks.query(name);
      let lock: Lock;
      try {
        lock = await locks.acquire(name, lockOptions(command, flags, interruption.signal));
      } catch (error) {
        if (interruption.exitCode !== undefined) return interruption.exitCode;
        if (!(error instanceof LockTimeoutError)) throw error;
        tell(busyMessage(name, error));
        return flags.skip ? ExitCode.done : ExitCode.busy;
      }
      try {
        return await runWhileHeld(lock, name, command, { ...flags, interruption });
      } finally {
        await lock.release();
      }
    },
    LOG,
  );
}

async function runWhileHeld(
  lock: Lock,
  name: string,
  command: readonly string[],
  { interruption, killAfter }: RunFlags & { readonly interruption: Interruption },
): Promise<number> {
  // A signal may have come with the grant.
  if (interruption.exitCode !== undefined) return interruption.exitCode;
  const env = { ...process.env, LOCK_NAME: name, LOCK_TOKEN: String(lock.fencingToken) };
  const child = await ChildCommand.start(command, env);
  interruption.passOn((signal) => child.signal(signal));
  let ending: Promise<void> | undefined;
  const endIt = (): void => {
    tell(`The lock ${name} was lost, so the command is ended. ${reasonOf(lock.signal)}`);
    ending = child.end(killAfter);
  };
  if (lock.signal.aborted) endIt();
  else lock.signal.addEventListener('abort', endIt, { once: true });
  const exitCode = await child.ended;
  lock.signal.removeEventListener('abort', endIt);
  if (ending === undefined) return exitCode;
  await ending;
  return ExitCode.lost;
}

function lockOptions(
  command: readonly string[],
  { wait, ttl, limit, minHold }: RunFlags,
  signal: AbortSignal,
): LockOptions {
  const mode = limit === undefined ? 'exclusive' : 'shared';
  return { signal, outageTimeout: OUTAGE, label: labelOf(command), wait, ttl, minHold, mode, limit };
}

/** The program, without its arguments, which may be secret. */
function labelOf([program = '']: readonly string[]): string {
  const label = `run ${printable(program)}`;
  return Buffer.from(label)
    .subarray(0, LABEL_BYTES)
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

/** Signals to this process: they give up the wait for the lock, and are passed on to the command once there is one. */
class Interruption {
  private early: (typeof PASSED_ON)[number] | undefined;
  private readonly controller = new AbortController();
  private target: ((signal: NodeJS.Signals) => void) | undefined;

  constructor() {
    for (const signal of PASSED_ON) process.on(signal, () => this.take(signal));
    // Stopped, it would not renew its lease, and the command would go on.
    process.on('SIGTSTP', () => {});
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** 128 and the number of the signal that came before there was a command. */
  get exitCode(): number | undefined {
    return this.early && 128 + constants.signals[this.early];
  }

  passOn(target: (signal: NodeJS.Signals) => void): void {
    this.target = target;
    // It came while the command was started.
    if (this.early) target(this.early);
  }

  private take(signal: (typeof PASSED_ON)[number]): void {
    if (this.target) return this.target(signal);
    if (!ENDING.includes(signal)) return;
    this.early ??= signal;
    this.controller.abort();
  }
}
