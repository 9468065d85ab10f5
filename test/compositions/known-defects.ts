import type { Composition } from './composition.js';

/** Compositions that reach a defect which is not mended yet. */
export const KNOWN_DEFECTS: readonly {
  /** The number in the list of defects, and the defect. */
  readonly defect: string;
  readonly applies: (composition: Composition) => boolean;
}[] = [];

export function hasKnownDefect(composition: Composition): boolean {
  return KNOWN_DEFECTS.some(({ applies }) => applies(composition));
}

/** Whether a request of a composition stays reachable, by a defect that is not mended yet. */
export function keepsRequests({ leftBehind, transport }: Composition): boolean {
  // 4 and 6: what a handler leaves running keeps its request.
  return leftBehind !== 'nothing' || transport === 'graphql';
}
