import type { Composition } from './composition.js';

/** Compositions that reach a defect which is not mended yet. */
export const KNOWN_DEFECTS: readonly {
  readonly defect: string;
  readonly applies: (composition: Composition) => boolean;
}[] = [];

/**
 * Defects that one rule of the scene tolerates, because most compositions that reach them are worth playing:
 *
 * - A second attempt of a request begins under the hold of the first one while a call below the first one is still
 *   inside that hold: `isLeftBelow` in scene.ts.
 */
export function hasKnownDefect(composition: Composition): boolean {
  return KNOWN_DEFECTS.some(({ applies }) => applies(composition));
}

/** Whether a request of a composition stays reachable, by a defect that is not mended yet. */
export function keepsRequests(): boolean {
  // 4 and 6: timers, sockets and Promises keep the request in whose context they were created.
  return true;
}
