import { handOff } from './hand-off.js';
import { luaFunction } from './lua-function.js';
import { prepare } from './prepare.js';

/**
 * `pass_on(lock, queue, shared)`: gives a lock that somebody waits for to the head of its queue; deletes it where nobody is
 * there any more. Returns 2 where whoever waits for a shared hold was only told, else 1.
 */
export const passOn = luaFunction(handOff, prepare)`
local function pass_on(lock, queue, shared)
  prepare(queue)
  local given = hand_off(lock, queue, nil, shared)
  if not given then
    redis.call('DEL', lock)
  end
  return given == 'shared' and not shared and 2 or 1
end
`;
