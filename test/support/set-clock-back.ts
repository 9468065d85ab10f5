import type { Redis } from 'ioredis';

/** Moves what a server has dated, instead of its clock. */
const LUA = `
local by = tonumber(ARGV[1])
local function later(key, added)
  local kept = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  for i = 1, #kept, 2 do
    redis.call('ZADD', key, string.format('%.17g', kept[i + 1] + added), kept[i])
  end
end
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key)
  if string.sub(key, -2) == ':q' then
    later(key, by * 1000)
  elseif string.sub(key, -2) == ':s' then
    later(key, by)
  elseif string.sub(key, -5) == 'fence' then
    redis.call('SET', key, string.format('%.0f', redis.call('GET', key) + by * 1000))
  end
  if left > 0 then
    redis.call('PEXPIRE', key, string.format('%.0f', left + by))
  end
end
`;

/**
 * Sets the clock of a server back by so many milliseconds, as far as locks can tell: whatever the server has dated (ends of
 * leases, places in queues, the last fencing token) is that much later by its clock, at once. No server can be asked to
 * step its clock, and no other process of the machine may notice.
 */
export async function setClockBack(client: Redis, by: number): Promise<void> {
  await client.eval(LUA, 0, by);
}
