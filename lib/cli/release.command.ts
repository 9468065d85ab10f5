import { createInterface } from 'node:readline/promises';
import type { LockService } from '../service/lock.service.js';
import type { LockInfo } from '../store/lock-snapshot.interface.js';
import type { ConnectionFlags } from './connection-flags.js';
import { CommandError, ExitCode } from './exit-code.js';
import { type Output, printError } from './output.js';
import { printSnapshot } from './query.command.js';

export interface ReleaseFlags extends ConnectionFlags {
  readonly force?: boolean;
}

const MEANING = `
The holder is notified, and the next waiter acquires the lock. The holder's work may continue: only a resource that
rejects older fencing tokens prevents its writes. Without fencing, end that process first.
`;

/** Ends the holds of a name after the user has seen and confirmed them. */
export async function release(
  locks: LockService,
  out: Output,
  name: string,
  { force }: ReleaseFlags,
): Promise<number> {
  const mayAsk = process.stdin.isTTY && !out.isJson;
  if (!force && !mayAsk) {
    throw new CommandError('There is no terminal for the confirmation: use --force.', ExitCode.declined);
  }
  const snapshot = await locks.query(name);
  const reportResult = (ended: readonly LockInfo[]): number => {
    const released = ended.length > 0;
    out.result({ name, released, ended }, () =>
      out.line(released ? `Released ${name}.` : `Nobody holds ${name}.`),
    );
    return released ? ExitCode.done : ExitCode.free;
  };
  if (snapshot.held.length === 0) return reportResult([]);
  if (!out.isJson) printSnapshot(out, name, snapshot);
  await out.flush();
  if (!force) {
    out.line(MEANING);
    if (!(await isConfirmed(name))) return decline('Nothing was released.');
  }
  // Another instance may have acquired the lock since its holder was shown.
  const owners = snapshot.held.map(({ owner }) => owner);
  const { released, holders } = await locks.forceRelease(name, { owners });
  if (released.length === 0 && holders.length > 0)
    return decline(`It is now held by ${holders.join(', ')}. Check again.`);
  return reportResult(snapshot.held.filter(({ owner }) => released.includes(owner)));
}

/** Asks for confirmation; Ctrl-C, Ctrl-D and every answer other than yes mean no. */
async function isConfirmed(name: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<string>((resolve) => {
    terminal.once('close', () => resolve('no'));
    terminal.once('SIGINT', () => resolve('no'));
  });
  const answer = await Promise.race([terminal.question(`Release ${name}? Type yes: `), closed]);
  terminal.close();
  return answer.trim().toLowerCase() === 'yes';
}

function decline(reason: string): number {
  printError(reason);
  return ExitCode.declined;
}
