type Hook = (run: () => Promise<void>, timeout?: number) => void;

/**
 * A server or the like for the tests of a `describe`: it starts before the first of them and ends after the last.
 *
 * @example
 * const server = duringTests(() => RedisServer.start());
 */
export function duringTests<T extends AsyncDisposable>(start: () => Promise<T>, timeout?: number): T {
  return started(start, beforeAll, afterAll, timeout);
}

/** A new one for each test of a `describe`. */
export function duringEachTest<T extends AsyncDisposable>(start: () => Promise<T>, timeout?: number): T {
  return started(start, beforeEach, afterEach, timeout);
}

/** Tests are described before anything has started: until then there is only what stands for it. */
function started<T extends AsyncDisposable>(
  start: () => Promise<T>,
  before: Hook,
  after: Hook,
  timeout: number | undefined,
): T {
  let current: T | undefined;
  before(async () => {
    current = await start();
  }, timeout);
  after(async () => {
    await current?.[Symbol.asyncDispose]();
    current = undefined;
  }, timeout);
  return new Proxy({} as T, {
    get: (_, name) => {
      if (!current) throw new Error('It has not started yet: only tests and hooks may use it.');
      const value: unknown = Reflect.get(current, name, current);
      return typeof value === 'function' ? (value.bind(current) as unknown) : value;
    },
    set: (_, name, value) => current !== undefined && Reflect.set(current, name, value, current),
  });
}
