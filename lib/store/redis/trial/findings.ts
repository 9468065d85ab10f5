import { LockConfigError } from '../../../errors/lock.error.js';
import { integer, list, text } from '../connection/script-reply.js';

/** The oldest version that passes the project's suites. */
const OLDEST_MAJOR = 7;

/** The result of a trial of a server. */
export interface Findings {
  /** The number of receivers that the server reported, or why it published nothing. */
  readonly receivers: number | string;
  /** Empty if unknown. */
  readonly version: string;
  /** The problem that affects every lock; undefined if there is none. */
  readonly trouble: string | undefined;
  /** What can end locks early; undefined if nothing was found. */
  readonly risk: string | undefined;
}

/** Parses the reply of the trial script; `clean` redacts credentials. */
export function findings(reply: unknown, clean: (text: string) => string): Findings {
  const [receivers, ...texts] = list(reply, 6);
  const [version = '', writes = '', clock = '', missing = '', policy = ''] = texts.map(text);
  const troubles = [
    ...(writes.startsWith('READONLY') ? [`it is a replica, which rejects writes (${writes})`] : []),
    ...(clock === '' ? [] : [`scripts cannot read the time (${clock})`]),
    ...(missing === '' ? [] : [`the user may not run ${missing}, or they were renamed`]),
  ];
  return {
    receivers: isRefusal(receivers) ? clean(receivers) : integer(receivers),
    version,
    risk: policy === '' ? undefined : riskOf(policy),
    trouble: troubles.length === 0 ? undefined : clean(troubles.join('; ')),
  };
}

function riskOf(policy: string): string {
  return (
    `Redis evicts locks when memory is short, because its maxmemory-policy is ${policy}: set noeviction, or use a ` +
    'separate Redis for locks. `npx nest-redis-lock doctor` runs all checks.'
  );
}

/** The error for an unsupported version; undefined for a supported or unknown one. */
export function versionError(version: string, where: string): LockConfigError | undefined {
  const major = Number(/^\d+/.exec(version)?.[0] ?? Number.NaN);
  if (!(major < OLDEST_MAJOR)) return undefined;
  return new LockConfigError(
    `The Redis at ${where} has version ${version}, but locks need ${OLDEST_MAJOR}.0 or newer (or Valkey).`,
  );
}

/** Whether the server rejected the message; a client with `stringNumbers` returns numbers as text. */
function isRefusal(receivers: unknown): receivers is string {
  return typeof receivers === 'string' && !/^\d+$/.test(receivers);
}
