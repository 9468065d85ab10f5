import { LockConfigError } from '../../../errors/lock-config.error.js';
import { integer, list, text } from '../connection/script-reply.js';

/** The oldest version whose scripts, sharded messages and rights the project's suites have passed with. */
const OLDEST_MAJOR = 7;

/** What a trial of a server has found. */
export interface Findings {
  /** How many got the message, as the server says, or why it published nothing. */
  readonly receivers: number | string;
  /** Empty where it does not tell. */
  readonly version: string;
  /** What stands in the way of every lock; undefined where nothing does. */
  readonly trouble: string | undefined;
}

/** Reads what the trial script answers; `clean` takes credentials out. */
export function findings(reply: unknown, clean: (text: string) => string): Findings {
  const [receivers, ...texts] = list(reply, 5);
  const [version = '', writes = '', clock = '', missing = ''] = texts.map(text);
  const troubles = [
    ...(writes.startsWith('READONLY') ? [`it is a replica, which takes no writes (${writes})`] : []),
    ...(clock === '' ? [] : [`scripts cannot ask it for the time (${clock})`]),
    ...(missing === '' ? [] : [`the user may not run ${missing}, or they were renamed`]),
  ];
  return {
    receivers: isRefusal(receivers) ? clean(receivers) : integer(receivers),
    version,
    trouble: troubles.length === 0 ? undefined : clean(troubles.join('; ')),
  };
}

/** Why a server of this version cannot be used; undefined where it can, or does not tell. */
export function versionError(version: string, where: string): LockConfigError | undefined {
  const major = Number(/^\d+/.exec(version)?.[0] ?? Number.NaN);
  if (!(major < OLDEST_MAJOR)) return undefined;
  return new LockConfigError(
    `The Redis at ${where} is of version ${version}, but locks need ${OLDEST_MAJOR}.0 or newer (or Valkey).`,
  );
}

/** A client with `stringNumbers` gives numbers as text. */
function isRefusal(receivers: unknown): receivers is string {
  return typeof receivers === 'string' && !/^\d+$/.test(receivers);
}
