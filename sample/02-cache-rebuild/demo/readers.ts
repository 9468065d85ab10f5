const TIME_LIMIT = 60_000;
/** Each request comes over a connection of its own: an idle one may be closed by its server while it is used again. */
export const headers = { connection: 'close' };

/** Readers that come at once. */
export interface Readers {
  /** The instances, which share the readers evenly. */
  readonly urls: readonly string[];
  readonly path: string;
  readonly count: number;
  /** Sends them home. */
  readonly signal: AbortSignal;
}

/** What the readers saw. */
export interface Reading {
  /** Each different answer once. Readers who got an error are not in it. */
  readonly answers: readonly string[];
  /** Readers who got an error, or no answer. */
  readonly failed: number;
  /** Milliseconds until the last reader had an answer. */
  readonly last: number;
}

/** Sends every reader, at most for a minute. */
export async function sendReaders({ urls, path, count, signal }: Readers): Promise<Reading> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIME_LIMIT)]);
  const start = performance.now();
  const readings = await Promise.allSettled(
    Array.from({ length: count }, (_, reader) => read(`${urls[reader % urls.length]}${path}`, limit)),
  );
  const last = performance.now() - start;
  signal.throwIfAborted();
  const answers = readings.flatMap((reading) => (reading.status === 'fulfilled' ? [reading.value] : []));
  return { answers: [...new Set(answers)], failed: count - answers.length, last: Math.round(last) };
}

async function read(url: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(url, { headers, signal });
  const answer = await response.text();
  if (response.ok) return answer;
  throw new Error(`${url} answered ${response.status}: ${answer}`);
}
