import crypto from 'node:crypto';

const { randomBytes } = crypto;

/** Runs work in which nothing is random, so that the same steps lead to the same state, and errors are made quickly. */
export async function repeatable<T>(work: () => Promise<T>): Promise<T> {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  // At most one string is detached, and each instance attaches it once.
  Object.assign(crypto, { randomBytes: (size: number) => Buffer.alloc(size, 0xab) });
  try {
    return await work();
  } finally {
    Object.assign(crypto, { randomBytes });
    Error.stackTraceLimit = stackTraceLimit;
  }
}
