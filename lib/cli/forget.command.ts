import type { ConnectionFlags } from './connection-flags.js';
import { ExitCode } from './exit-code.js';
import { Output } from './output.js';
import { withLocks } from './with-locks.js';

/** Deletes the kept result of a name, so that the next call of `once` runs again. */
export async function forget(name: string, flags: ConnectionFlags): Promise<number> {
  const out = new Output(flags.json);
  const forgotten = await withLocks(flags, (locks) => locks.forget(name));
  if (out.isJson) out.json({ name, forgotten });
  else out.line(forgotten ? `Forgot the result of ${name}.` : `No result of ${name} is kept.`);
  return forgotten ? ExitCode.done : ExitCode.free;
}
