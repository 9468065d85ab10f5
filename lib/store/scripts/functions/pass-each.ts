import { attempt } from './attempt.js';
import { includeBelow, luaFunction } from './lua-function.js';
import { passOn } from './pass-on.js';

/**
 * `pass_each(lock, queue, shared)`: {@link passOn} for a step of `attempt`. What only a lock with a queue needs is made when
 * it is called: others are felt to cost less by it.
 */
export const passEach = luaFunction(attempt)`
local function pass_each(lock, queue, shared)
  ${includeBelow([attempt], passOn)}
  return pass_on(lock, queue, shared)
end
`;
