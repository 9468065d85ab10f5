import type { ContestantDefinition } from '../contestant.js';
import { contestant as ours } from './ours.adapter.js';

/** This package, where readers do not say that they only read. */
export const contestant: ContestantDefinition = {
  ...ours,
  id: 'ours-exclusive',
  settings: `${ours.settings}; every hold exclusive`,
  async open(redis, lease) {
    const locks = await ours.open(redis, lease);
    return { hold: (name, work) => locks.hold(name, work), close: () => locks.close() };
  },
};
