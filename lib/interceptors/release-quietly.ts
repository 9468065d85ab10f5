import { Logger } from '@nestjs/common';
import { LOG_CONTEXT } from '../store/log-context.js';
import type { Lock } from '../interfaces/lock.interface.js';

/** Releases a hold; a release that fails is logged, for it must not replace the result of the work. */
export async function releaseQuietly(lock: Lock): Promise<void> {
  try {
    await lock.release();
  } catch (error) {
    Logger.warn(
      `${lock.keys.join(', ')} is left to its lease, the release failed: ${String(error)}`,
      LOG_CONTEXT,
    );
  }
}
