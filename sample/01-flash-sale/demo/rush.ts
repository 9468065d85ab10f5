import autocannon from 'autocannon';

const CONNECTIONS_PER_INSTANCE = 20;
const TIME_LIMIT = 60_000;

/** Buyers that come at once. */
export interface Rush {
  /** The instances, which share the buyers evenly. */
  readonly urls: readonly string[];
  readonly path: string;
  readonly body: object;
  /** How many buyers come; each sends one request. */
  readonly buyers: number;
  /** Sends the buyers home. */
  readonly signal: AbortSignal;
}

/** Sends every buyer, at most for a minute. */
export async function sendBuyers(rush: Rush): Promise<autocannon.Result> {
  const result = new Promise<autocannon.Result>((resolve, reject) => {
    const running = autocannon(options(rush), (error, counted) => {
      if (error) reject(error);
      else resolve(counted);
    });
    const signal = AbortSignal.any([rush.signal, AbortSignal.timeout(TIME_LIMIT)]);
    signal.addEventListener('abort', () => running.stop());
  });
  return result;
}

function options({ urls, path, body, buyers }: Rush): autocannon.Options {
  return {
    // It takes a list, which its types do not know.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    url: urls as unknown as string,
    connections: Math.min(buyers, urls.length * CONNECTIONS_PER_INSTANCE),
    amount: buyers,
    requests: [
      { method: 'POST', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
    ],
    // It looks this often whether all is done.
    sampleInt: 20,
  };
}
