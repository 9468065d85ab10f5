import { type Composition, hasShape } from './composition.js';

/** Compositions that reach a defect which is not mended yet. */
export const KNOWN_DEFECTS: readonly {
  /** The number in the list of defects, and the defect. */
  readonly defect: string;
  readonly applies: (composition: Composition) => boolean;
}[] = [
  {
    defect: '1: the handler runs when an interceptor subscribes',
    applies: (composition) =>
      hasShape(composition, 'from a Promise', 'async defer', 'new Observable in a storage', 'another tick'),
  },
  {
    defect: '2: the function of the handler is not the locked one',
    applies: ({ wrapping }) => wrapping === 'agent' || wrapping === 'bound',
  },
  { defect: '3: a Proxy stands before the instance', applies: ({ wrapping }) => wrapping === 'proxy' },
  { defect: '7: a shutdown refuses work in flight', applies: ({ shutdown }) => shutdown !== undefined },
  {
    defect: '9: a locked service waits on after a timeout',
    applies: (composition) => composition.locked !== 'handler' && hasShape(composition, 'timeout'),
  },
  {
    defect: 'two parallel calls of a handler wait for each other',
    applies: (composition) => hasShape(composition, 'two calls in parallel'),
  },
  {
    defect: 'a stream is released before its work ends when its subscriber leaves',
    applies: ({ result }) =>
      ['observable', 'promise of an observable', 'failing observable', 'sse'].includes(result),
  },
];

export function hasKnownDefect(composition: Composition): boolean {
  return KNOWN_DEFECTS.some(({ applies }) => applies(composition));
}

/** Whether a request of a composition stays reachable, by a defect that is not mended yet. */
export function keepsRequests({ leftBehind, transport }: Composition): boolean {
  // 4 and 6: what a handler leaves running keeps its request.
  return leftBehind !== 'nothing' || transport === 'graphql';
}
