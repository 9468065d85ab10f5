import { createBirpc, type BirpcReturn } from 'birpc';

/**
 * Answers the calls of the process that forked this one.
 *
 * @returns What this process may tell that one.
 */
export function serveParent<Calls extends object, Notices extends object>(
  calls: Calls,
): BirpcReturn<Notices, Calls> {
  return createBirpc<Notices, Calls>(calls, {
    post: (message) => process.send?.(message),
    on: (receive) => process.on('message', receive),
  });
}
