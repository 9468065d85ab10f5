import { cover } from './cover.js';
import { handOff } from './hand-off.js';
import { luaFunction } from './lua-function.js';

/** `go_on(lock, queue, shared, held)`: goes on with a shared lock from which holders were taken, where so many are left. */
export const goOn = luaFunction(cover, handOff)`
local function go_on(lock, queue, shared, held)
  if held > 0 then
    cover(lock, shared)
    hand_off(lock, queue, nil, shared, held)
  elseif not hand_off(lock, queue, nil, shared) then
    redis.call('DEL', lock)
  end
end
`;
