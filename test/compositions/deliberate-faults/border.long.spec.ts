import { describeDeliberateFaults, type Game } from '../../simulation/deliberate-faults/deliberate-fault.js';
import type { Composition } from '../composition.js';
import { borderFaults } from './border.faults.js';

describeDeliberateFaults(
  'The random compositions',
  borderFaults,
  (): Game<Composition> => {
    const { compositions } = jest.requireActual<typeof import('../explore.js')>('../explore.js');
    const { play } = jest.requireActual<typeof import('../play.js')>('../play.js');
    return { schedules: compositions, play: async (composition) => void (await play(composition)) };
  },
  { limit: 1_000, unit: 'compositions' },
);
