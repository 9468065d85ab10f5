import type { RANDOM } from './random-operations.js';

/** A line of the scripts that is wrong on purpose. */
interface SeededFault {
  readonly fault: string;
  readonly modes: keyof typeof RANDOM;
  /** Text of one or several scripts. */
  readonly text: string;
  readonly instead: string;
}

/** What could be wrong in a script: each has to show in 10,000 random operations. */
export const seededFaults: readonly SeededFault[] = [
  {
    fault: 'a release ends the lock of any holder',
    modes: 'exclusive',
    text: 'elseif owner ~= instance .. ARGV[i + 2] then',
    instead: 'elseif not owner then',
  },
  {
    fault: 'an extension extends the lock of any holder',
    modes: 'exclusive',
    text: 'elseif kept ~= owner then',
    instead: 'elseif not kept then',
  },
  {
    fault: 'an extension shortens a longer lease',
    modes: 'exclusive',
    text: "local is_longer = exact == '' and left >= tonumber(ttl)",
    instead: 'local is_longer = false',
  },
  {
    fault: 'a hold that has ended counts as the grant of its instance',
    modes: 'exclusive',
    text: 'if token and token > tonumber(ended_token) then',
    instead: 'if token then',
  },
  {
    fault: 'a grant whose answer was lost leaves its place in the queue',
    modes: 'exclusive',
    text: "if place then\n        redis.call('ZREM', queue, place)",
    instead: "if place then\n        redis.call('ZREM', queue, '')",
  },
  {
    fault: 'a free lock is granted past its queue',
    modes: 'exclusive',
    text: "if redis.call('EXISTS', lock, queue) > 0 then",
    instead: "if redis.call('EXISTS', lock) > 0 then",
  },
  {
    fault: 'a waiter that is gone counts as alive',
    modes: 'exclusive',
    text: 'receivers > 0 or untried > 0',
    instead: 'receivers >= 0 or untried > 0',
  },
  {
    fault: 'a shared lease that has expired is extended',
    modes: 'all modes',
    text: 'if last <= time then',
    instead: 'if last < 1 then',
  },
  {
    fault: 'several permits of a hold count as one',
    modes: 'all modes',
    text: 'count = count + weight(owner)',
    instead: 'count = count + 1',
  },
  {
    fault: 'what a limit leaves of a place is lost',
    modes: 'all modes',
    text: 'rest = rest_of(place, room)',
    instead: 'rest = nil',
  },
  {
    fault: 'a hand-off to several instances counts only the holders before it',
    modes: 'all modes',
    text: 'held = held + room * each',
    instead: 'held = held',
  },
  {
    fault: 'a frozen instance keeps the place of its bid',
    modes: 'all modes',
    text: 'elseif instance and not lapsed[instance] then',
    instead: 'elseif instance then',
  },
  {
    fault: 'a request that arrives twice shortens a shared lease',
    modes: 'all modes',
    text: "'GT', last, own",
    instead: 'last, own',
  },
  {
    fault: 'holds from before the last answer are named again',
    modes: 'all modes',
    text: 'tonumber(token) > since and',
    instead: 'tonumber(token) > 0 and',
  },
  {
    fault: 'holds that the instance knows are named again',
    modes: 'all modes',
    text: ' and not string.find(known, token, 1, true)',
    instead: '',
  },
  {
    fault: 'holds that the instance has already do not count',
    modes: 'all modes',
    text: 'wanted = wanted - #found',
    instead: 'wanted = wanted - 0',
  },
  {
    fault: 'a request that repeats loses the position of its place',
    modes: 'all modes',
    text: "redis.call('ZADD', queue, since, place)",
    instead: 'enqueue(queue, place)',
  },
  {
    fault: 'a cancel leaves a place for another number',
    modes: 'all modes',
    text: "place = own_place(queue, instance, tag) or ''",
    instead: 'place = place',
  },
  {
    fault: 'the lock expires with a holder that was taken out',
    modes: 'all modes',
    text: 'if held > 0 then\n    cover(lock, shared)',
    instead: 'if held > 0 then',
  },
];
