import {
  type DeliberateFault,
  describeDeliberateFaults,
  type Game,
} from '../../simulation/deliberate-faults/deliberate-fault.js';
import type { Composition } from '../composition.js';

/** Plays random compositions with each fault, until one breaks a rule. */
export function describeBorderFaults(title: string, faults: readonly DeliberateFault[], limit: number): void {
  describeDeliberateFaults(title, faults, loadGame, { limit, unit: 'compositions' });
}

function loadGame(): Game<Composition> {
  const { anyComposition } = jest.requireActual<typeof import('../composition.arbitrary.js')>(
    '../composition.arbitrary.js',
  );
  const { play } = jest.requireActual<typeof import('../play.js')>('../play.js');
  return { schedules: anyComposition, play: async (composition) => void (await play(composition)) };
}
