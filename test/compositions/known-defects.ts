import { type Composition, hasShape, streamsResult } from './composition.js';

/** Compositions that reach a defect which is not mended yet. */
export const KNOWN_DEFECTS: readonly {
  readonly defect: string;
  readonly applies: (composition: Composition) => boolean;
}[] = [
  {
    defect:
      'a stream emits in the context of its hold: an interceptor that calls the handler again from there counts as a nested call',
    applies: (composition) =>
      composition.leftBehind === 'call' &&
      streamsResult(composition) &&
      hasShape(composition, 'two calls in parallel', 'retry', 'repeat'),
  },
];

/**
 * Defects that a rule of the scene tolerates, because most compositions that reach them are worth playing:
 *
 * - A second attempt of a request begins under the hold of the first one while a call below the first one is still
 *   inside that hold: `isLeftBelow` in scene.ts.
 * - The answer of an Observable does not await a call below its hold that is still inside, because the release runs in
 *   the context of the hold: `answered` in scene.ts.
 */
export function hasKnownDefect(composition: Composition): boolean {
  return KNOWN_DEFECTS.some(({ applies }) => applies(composition));
}
