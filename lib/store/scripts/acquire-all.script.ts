import { clock, inTime } from './functions/time.js';
import { mint } from './functions/tokens.js';
import { include, includeBelow } from './functions/lua-function.js';
import { luaScript } from './lua-script.js';

/**
 * Grants several locks together, under one owner id and with consecutive fencing tokens, if all of them are free and
 * have no queue; otherwise it writes nothing. A repeated request receives the same grant, even if one of the locks was
 * released forcibly since.
 *
 * KEYS  1 fence counter, then all locks, then all queues
 * ARGV  1 owner id up to the token, different for each request, 2 until when this counts (see inTime), 3 unused,
 *       4 ttl in ms
 * Reply granted: the first token, in which the owner id ends; the others are the next numbers
 *       else { server's time in microseconds, and for each lock that another instance has { its index from 0,
 *       owner id or `shared`, ms left of its lease (negative: no expiry) } }
 *       or minus the server's time if the request is too late
 *
 * O(k) for k locks.
 */
export const acquireAllScript = luaScript('acquire-all')`
local fence, own = KEYS[1], ARGV[1]
local n = (#KEYS - 1) / 2
-- The most common request, for free names, skips the functions below: their set-up takes Redis longer than the request.
local is_free = redis.call('EXISTS', unpack(KEYS, 2)) == 0
if is_free then
  local time = redis.pcall('TIME')
  local token = time[1] and time[1] .. string.format('%06d', time[2])
  if token and (ARGV[2] == '' or token <= ARGV[2]) then
    local last = redis.call('SET', fence, string.format('%.0f', token + n - 1), 'GET')
    if not last or #last <= #token and last < token then
      local call, owner, ttl = redis.call, own .. token, ARGV[4]
      -- With GET the reply is nil; for OK, Redis would create a table.
      for i = 2, n + 1 do
        call('SET', KEYS[i], owner, 'PX', ttl, 'GET')
      end
      return tonumber(token)
    end
    redis.call('SET', fence, last)
  end
end
local function acquire_all()
${include(clock)}
if not is_free then
  local reply, instance = { clock() }, string.match(own, '^[^~]*') .. ':'
  for i = 2, n + 1 do
    local owner = redis.call('GET', KEYS[i])
    if owner and string.sub(owner, 1, #own) == own then
      return tonumber(string.sub(owner, #own + 1))
    elseif owner and string.sub(owner, 1, #instance) ~= instance then
      reply[#reply + 1] = { i - 2, owner, redis.call('PTTL', KEYS[i]) }
    end
  end
  return reply
end
${includeBelow([clock], mint, inTime)}
local token, _, text = mint(n, n)
for i = 2, n + 1 do
  redis.call('SET', KEYS[i], own .. text, 'PX', ARGV[4])
end
return token
end
return acquire_all()
`;
