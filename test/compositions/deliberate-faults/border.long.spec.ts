import { describeDeliberateFaults, type Game } from '../../simulation/deliberate-faults/deliberate-fault.js';
import type { Composition } from '../composition.js';
import { borderFaults } from './border.faults.js';

describeDeliberateFaults(
  'The random compositions',
  borderFaults,
  (): Game<Composition> => {
    const { anyComposition } = jest.requireActual<typeof import('../composition.arbitrary.js')>(
      '../composition.arbitrary.js',
    );
    const { play } = jest.requireActual<typeof import('../play.js')>('../play.js');
    return { schedules: anyComposition, play: async (composition) => void (await play(composition)) };
  },
  { limit: 4_000, unit: 'compositions' },
);
