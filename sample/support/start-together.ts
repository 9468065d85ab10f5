/**
 * Waits for everything that is being started; where something fails, ends the rest and rejects with that.
 *
 * @example
 * const [redis, instances] = await startTogether([RedisBackend.start(), Instances.start(options)]);
 */
export async function startTogether<T extends readonly Promise<AsyncDisposable>[] | []>(
  starts: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const outcomes = await Promise.allSettled<AsyncDisposable>(starts);
  if (outcomes.some(({ status }) => status === 'rejected')) {
    const started = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    await Promise.all(started.map((each) => each[Symbol.asyncDispose]()));
  }
  return Promise.all(starts);
}
