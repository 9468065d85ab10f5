/** Options of ioredis that the query of a URL may set. ioredis itself would take each of them as text. */
const PARAMETERS: ReadonlyMap<string, 'number' | 'boolean' | 'text'> = new Map([
  ...['commandTimeout', 'connectTimeout', 'db', 'family', 'keepAlive', 'maxRetriesPerRequest'].map(
    (name) => [name, 'number'] as const,
  ),
  ...['enableOfflineQueue', 'enableReadyCheck', 'lazyConnect', 'noDelay'].map(
    (name) => [name, 'boolean'] as const,
  ),
  ...['connectionName', 'keyPrefix', 'password', 'username'].map((name) => [name, 'text'] as const),
]);

const SCHEME = /^(?:redis|valkey)(s?):\/\//i;

/** Whether a text begins with the scheme of a Redis or Valkey URL. */
export function hasRedisScheme(text: string): boolean {
  return SCHEME.test(text);
}

/** Whether a URL requires TLS. */
export function isTlsUrl(text: string): boolean {
  return SCHEME.exec(text)?.[1]?.toLowerCase() === 's';
}

/** What is wrong with the query of a URL, without its values, which may be secrets; undefined if nothing is. */
export function queryProblem(text: string): string | undefined {
  for (const [name, value] of new URL(text).searchParams) {
    const type = PARAMETERS.get(name);
    if (type === undefined)
      return `has the parameter ${name}, but its query can set only ${[...PARAMETERS.keys()].join(', ')}`;
    if (Number.isNaN(valueOf(name, value)))
      return `has the parameter ${name}, which is not a number from 0 on`;
    if (type === 'boolean' && !/^(?:true|false|)$/.test(value))
      return `has the parameter ${name}, which is neither true nor false`;
  }
  return undefined;
}

/** A checked URL as ioredis takes it: with its schemes, and without the query, whose parameters are the options. */
export function parseRedisUrl(text: string): {
  readonly url: string;
  readonly options: Readonly<Record<string, string | number | boolean>>;
} {
  const { searchParams } = new URL(text);
  return {
    url: text.replace(SCHEME, isTlsUrl(text) ? 'rediss://' : 'redis://').replace(/\?.*$/s, ''),
    options: Object.fromEntries([...searchParams].map(([name, value]) => [name, valueOf(name, value)])),
  };
}

function valueOf(name: string, value: string): string | number | boolean {
  const type = PARAMETERS.get(name);
  // A parameter without a value, as in ?lazyConnect, switches the option on.
  if (type === 'boolean') return value !== 'false';
  if (type === 'number') return /^\d+$/.test(value) ? Number(value) : Number.NaN;
  return value;
}
