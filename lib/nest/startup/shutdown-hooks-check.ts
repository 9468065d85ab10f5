import { Logger } from '@nestjs/common';
import { listenToLocks } from '../../diagnostics/lock-channel.js';
import { LOG_CONTEXT } from '../../diagnostics/lock-log.js';
import { inRootContext } from '../../primitives/root-context.js';

/** Milliseconds between the first granted lock and the check, because main.ts may enable the hooks after a grant. */
const CHECK_DELAY = 1_000;

let isWatching = false;

/**
 * Warns once in a process that acquires locks and would not release them on SIGTERM. Checks only processes that look
 * like production, because development does not need the hooks.
 */
export function watchForShutdownHooks(): void {
  if (isWatching || !isProductionLike()) return;
  isWatching = true;
  const stop = listenToLocks({
    'nest-redis-lock:acquire:granted': () => {
      stop();
      inRootContext(() => setTimeout(warnWithoutHooks, CHECK_DELAY).unref());
    },
  });
}

function warnWithoutHooks(): void {
  if (process.listenerCount('SIGTERM') > 0) return;
  Logger.warn(
    'This process has granted a lock, but does not listen for SIGTERM: when it is stopped, its locks stay taken until their ' +
      'leases end. Add app.enableShutdownHooks() to main.ts, before app.listen().',
    LOG_CONTEXT,
  );
}

/** Whether the process looks like production: by NODE_ENV, as a container's main process, or in Kubernetes. */
function isProductionLike(): boolean {
  const { NODE_ENV, KUBERNETES_SERVICE_HOST } = process.env;
  return NODE_ENV === 'production' || process.pid === 1 || KUBERNETES_SERVICE_HOST !== undefined;
}
