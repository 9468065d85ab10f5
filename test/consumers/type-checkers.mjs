import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

const PACKAGE = 'nest-redis-lock';

/**
 * Threads that have nothing to do, by their compiler.
 *
 * @type {Map<string, Worker[]>}
 */
const idle = new Map();

/**
 * Checks an application's own files, and the declarations of the package under test, whatever `skipLibCheck` says. Those
 * of all other packages take two thirds of what `tsc` needs.
 *
 * @param {string} compiler the file of a compiler's API
 * @param {{ project: string, options: object }} order its tsconfig.json, and what is otherwise than there
 * @param {AbortSignal} signal
 * @throws Error with what the compiler says
 */
export async function checkTypes(compiler, order, signal) {
  const threads = idle.get(compiler) ?? [];
  idle.set(compiler, threads);
  const thread =
    threads.pop() ??
    new Worker(new URL('type-check.worker.mjs', import.meta.url), {
      workerData: { compiler, package: PACKAGE },
    });
  thread.ref();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A thread has none.
  thread.postMessage(order);
  try {
    const [errors] = await once(thread, 'message', { signal });
    threads.push(thread);
    if (errors !== '') throw new Error(errors);
  } finally {
    thread.unref();
  }
}
