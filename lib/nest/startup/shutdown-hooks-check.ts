import { Logger } from '@nestjs/common';
import { listenToLocks } from '../../diagnostics/lock-channel.js';
import { LOG_CONTEXT } from '../../diagnostics/lock-log.js';
import { inRootContext } from '../../primitives/root-context.js';
import { noShutdownHooks } from './start.messages.js';

/** Milliseconds after the first granted lock: a lock may be granted before main.ts enables the hooks. */
const PATIENCE = 1_000;

let isWatching = false;

/**
 * Warns once in a process that grants locks and would not release them on SIGTERM. In development nobody misses the
 * hooks, so only a process that looks like production is watched.
 */
export function watchForShutdownHooks(): void {
  if (isWatching || !isProductionLike()) return;
  isWatching = true;
  const stop = listenToLocks({
    'nest-redis-lock:acquire:granted': () => {
      stop();
      inRootContext(() => setTimeout(warnWithoutHooks, PATIENCE).unref());
    },
  });
}

function warnWithoutHooks(): void {
  if (process.listenerCount('SIGTERM') === 0) Logger.warn(noShutdownHooks(), LOG_CONTEXT);
}

/** By the environment that Nest's documentation sets, by a container's main process, or by Kubernetes. */
function isProductionLike(): boolean {
  const { NODE_ENV, KUBERNETES_SERVICE_HOST } = process.env;
  return NODE_ENV === 'production' || process.pid === 1 || KUBERNETES_SERVICE_HOST !== undefined;
}
