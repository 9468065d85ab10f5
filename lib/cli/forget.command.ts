import type { LockService } from '../service/lock.service.js';
import { ExitCode } from './exit-code.js';
import type { Output } from './output.js';

/** Deletes the kept result of a name, so that the next call of `once` runs again. */
export async function forget(locks: LockService, out: Output, name: string): Promise<number> {
  const forgotten = await locks.forget(name);
  out.result({ name, forgotten }, () =>
    out.line(forgotten ? `Forgot the result of ${name}.` : `No result of ${name} is kept.`),
  );
  return forgotten ? ExitCode.done : ExitCode.free;
}
