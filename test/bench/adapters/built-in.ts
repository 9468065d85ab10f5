import { join, resolve } from 'node:path';
import type { ContestantDefinition } from '../contestant.js';
import { type LockBuild, openLocks } from './lock-build.js';

/** The working copy's own root. */
export const HERE = resolve(__dirname, '../../..');

/**
 * This package as it is built in some directory. Builds that are compared are loaded alike, and each alone: a process
 * that had loaded another copy before was 10 % faster.
 */
export function builtIn(directory: string, id: string): ContestantDefinition {
  return {
    id,
    kind: 'ours',
    settings: 'as ours',
    sends: ['evalsha', 'eval'],
    async open({ host, port }, ttl) {
      const parts = ['lock-service.factory.js', 'options/module-options.js'].map(
        (file) => require(join(directory, 'dist/cjs', file)) as object,
      );
      return openLocks(Object.assign({}, ...parts) as LockBuild, { host, port }, ttl);
    },
  };
}
