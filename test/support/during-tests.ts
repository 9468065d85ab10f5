type Hook = (run: () => Promise<void>, timeout?: number) => void;
/** Applications of Nest and the like are closed. */
type Ending = AsyncDisposable | { close(): unknown };

/** Jest calls the hooks that end something in the order of their definition; the last to start is the first to end. */
const endsOfAll: (() => Promise<void>)[] = [];
const endsOfEach: typeof endsOfAll = [];

/**
 * A server or the like for the tests of a `describe`: it starts before the first of them and ends after the last, before
 * those that have started earlier.
 *
 * @example
 * const server = duringTests(() => RedisServer.start());
 */
export function duringTests<T extends Ending>(start: () => Promise<T>, timeout?: number): T {
  return started(start, endsOfAll, beforeAll, afterAll, timeout);
}

/** A new one for each test of a `describe`. */
export function duringEachTest<T extends Ending>(start: () => Promise<T>, timeout?: number): T {
  return started(start, endsOfEach, beforeEach, afterEach, timeout);
}

/**
 * Ends after each test of a `describe` what it is given there, the last one first.
 *
 * @example
 * const closing = endingAfterEachTest();
 * const open = async () => closing(await new Instance(options).warmUp());
 */
export function endingAfterEachTest(): <T extends Ending>(it: T) => T {
  const given: Ending[] = [];
  afterEach(async () => {
    for (const it of given.splice(0).toReversed()) await end(it);
  });
  return (it) => {
    given.push(it);
    return it;
  };
}

async function end(it: Ending): Promise<void> {
  await (Symbol.asyncDispose in it ? it[Symbol.asyncDispose]() : it.close());
}

/** Tests are described before anything has started: until then there is only what stands for it. */
function started<T extends Ending>(
  start: () => Promise<T>,
  ends: typeof endsOfAll,
  before: Hook,
  after: Hook,
  timeout: number | undefined,
): T {
  let current: T | undefined;
  before(async () => {
    ends.push(async () => {
      const it = current;
      current = undefined;
      if (it) await end(it);
    });
    current = await start();
  }, timeout);
  after(async () => ends.pop()?.(), timeout);
  return new Proxy({} as T, {
    get: (_, name) => {
      if (!current) throw new Error('It has not started yet: only tests and hooks may use it.');
      const value: unknown = Reflect.get(current, name, current);
      return typeof value === 'function' ? (value.bind(current) as unknown) : value;
    },
    set: (_, name, value) => current !== undefined && Reflect.set(current, name, value, current),
  });
}
