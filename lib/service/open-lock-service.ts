import type { LockLog } from '../diagnostics/lock-log.js';
import { type EngineSettings, LockEngine } from '../engine/lock-engine.js';
import type { ResolvedModuleOptions } from '../options/module-options.interface.js';
import { SystemClock } from '../primitives/clock.js';
import type { LockStore } from '../store/lock-store.js';
import { type Instance, openStore } from '../store/open-store.js';
import { instanceName } from '../store/owner-id.js';
import { LockService } from './lock.service.js';

export interface Surroundings extends Pick<EngineSettings, 'budget' | 'labelIntervals'> {
  /** Receives reports that have no caller. */
  readonly log: LockLog;
  /** Opens the store. Default: the store for the option `connection`. */
  readonly open?: (instance: Instance) => LockStore;
}

/** Creates a LockService with its own store. */
export function openLockService(
  options: ResolvedModuleOptions,
  { log, open = (instance) => openStore(options, instance), ...settings }: Surroundings,
): LockService {
  const instance = { name: instanceName(), clock: new SystemClock(), log };
  return new LockService(options, new LockEngine({ ...instance, store: open(instance), ...settings }));
}
