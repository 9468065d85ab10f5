import type { CallMessage, WorkerCalls, WorkerFailure, WorkerMessage } from './worker-messages.js';

/**
 * In a worker file: says what the starting process can call, and that the worker is ready.
 *
 * The worker ends when the starting process disconnects from it.
 *
 * @example
 * const calls = { add: (a: number, b: number) => a + b };
 * export type AddingCalls = typeof calls;
 * serveCalls(calls);
 */
export function serveCalls(calls: WorkerCalls): void {
  process.on('message', (message: CallMessage) => void answer(calls, message));
  process.on('disconnect', () => process.exit());
  send({ kind: 'ready' });
}

/** In a worker file: adds a message to the `messages` that the starting process sees. */
export function tell(message: unknown): void {
  send({ kind: 'told', message });
}

async function answer(calls: WorkerCalls, { id, name, args }: CallMessage): Promise<void> {
  try {
    const call = calls[name];
    if (!call)
      throw new Error(`This worker does not serve ${name}; it serves ${Object.keys(calls).join(', ')}`);
    send({ kind: 'result', id, result: await call(...(args as never[])) });
  } catch (error) {
    send({ kind: 'failure', id, failure: describe(error) });
  }
}

function describe(error: unknown): WorkerFailure {
  if (!(error instanceof Error)) {
    return { name: 'Error', message: String(error), stack: undefined, code: undefined };
  }
  const code = 'code' in error ? error.code : undefined;
  return { name: error.name, message: error.message, stack: error.stack, code };
}

function send(message: WorkerMessage): void {
  if (!process.send) throw new Error('Start this file with startWorker; it answers calls over its channel');
  process.send(message);
}
