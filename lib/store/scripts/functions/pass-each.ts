import { attempt } from './attempt.js';
import { handOff } from './hand-off.js';
import { includeBelow, luaFunction } from './lua-function.js';
import { prepare } from './prepare.js';

/**
 * `pass_each(lock, queue, shared)`: for a step of `attempt`, gives a lock that somebody waits for to the head of its queue; deletes
 * it where nobody is there any more. Returns 2 where whoever waits for a shared hold was only told, else 1. What only a lock with
 * a queue needs is made when it is called: others are felt to cost less by it.
 */
export const passEach = luaFunction(attempt)`
local function pass_each(lock, queue, shared)
  ${includeBelow([attempt], handOff, prepare)}
  prepare(queue)
  local given = hand_off(lock, queue, nil, shared)
  if not given then
    redis.call('DEL', lock)
  end
  return given == 'shared' and not shared and 2 or 1
end
`;
