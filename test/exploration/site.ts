import type { Lease } from '../../lib/engine/hold/lease.js';
import { Name, type Rules } from '../../lib/engine/queue/name.js';
import type { Waiter } from '../../lib/engine/queue/waiter.js';
import type { ResolvedLockOptions } from '../../lib/options/lock-options.interface.js';
import { formatPlace } from '../../lib/store/place.js';
import { permitsMark } from '../../lib/store/turn-name.js';
import { constant, copyOf } from './copy.js';
import type { Message, Reply, Request } from './messages.js';
import { sure } from './sure.js';
import { currentWorld, INSTANCES, NAMES } from './world-server.js';

export interface Caller {
  readonly options: ResolvedLockOptions;
  /** The number of its name. */
  readonly of: number;
  phase: 'new' | 'waits' | 'holds' | 'lost' | 'done';
  waiter: Waiter | undefined;
  lease: Lease | undefined;
  /** Whether its hold was seen as over. */
  isOver: boolean;
}

/** What an instance knows about one name. */
export interface Topic {
  name: Name;
  /** The time of the next check for outages. */
  outageAt: number;
  /** Number of clean-ups for which the machine waits. */
  returning: number;
}

/** One instance: its callers, the machine of each name, and what is on its way between it and the server, in order. */
export interface Site {
  readonly i: number;
  readonly id: string;
  readonly callers: Caller[];
  readonly topics: Topic[];
  /** The highest token that has ended here. */
  endedToken: number;
  /** The number of the last shared turn. */
  turns: number;
  isClosing: boolean;
  isCut: boolean;
  requests: Request[];
  replies: Reply[];
  messages: Message[];
  /** Copies of requests that were given up or answered. They may arrive at any time. */
  late: Request[];
}

/** Turns are numbered from here, each instance in a range of its own. They are no tokens, but as large. */
export const FIRST_TURN = 9_000_000;
export const TURNS = 100_000;

/** No client of another package uses these names. */
const NO_GAPS: Rules['gaps'] = {
  next: () => undefined,
  note: () => undefined,
  noteGrant: () => undefined,
  reaskDelay: () => 1_000,
};

const RULES: readonly Rules[] = INSTANCES.map((id, i) =>
  constant<Rules>(
    {
      handoff: constant({ max: 2, window: 20 }, 'hand-off'),
      gaps: NO_GAPS,
      store: constant<Rules['store']>(
        {
          canQueue: () => currentWorld().server.inboxes.has(id),
          place: (claimTtl, tokens, shared) => formatPlace({ instance: id, claimTtl, tokens, shared }),
        },
        'store',
      ),
      newTurn: (permits) => `s${permitsMark(permits)}${++currentWorld().site(i).turns}`,
    },
    'rules',
  ),
);

export function newSite(i: number, callers: readonly Pick<Caller, 'options' | 'of'>[]): Site {
  const topics = callers.map(({ of }) => of);
  return {
    i,
    id: sure(INSTANCES[i]),
    callers: callers.map(({ options, of }) => ({
      options,
      of,
      phase: 'new',
      waiter: undefined,
      lease: undefined,
      isOver: false,
    })),
    topics: NAMES.slice(0, 1 + Math.max(0, ...topics)).map((_, of) => ({
      name: newName(i, of),
      outageAt: Infinity,
      returning: 0,
    })),
    endedToken: 0,
    turns: FIRST_TURN + i * TURNS,
    isClosing: false,
    isCut: false,
    requests: [],
    replies: [],
    messages: [],
    late: [],
  };
}

export function newName(i: number, of: number): Name {
  return new Name(sure(NAMES[of]), sure(RULES[i]));
}

/** What is on its way does not change, and is shared with the copy. */
export function siteCopy(site: Site): Site {
  const { requests, replies, messages, late, callers, topics } = site;
  return {
    ...site,
    ...copyOf({ callers, topics }),
    requests: requests.slice(),
    replies: replies.slice(),
    messages: messages.slice(),
    late: late.slice(),
  };
}
