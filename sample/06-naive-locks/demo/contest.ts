import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { holderKilled } from '../events/holder-killed.event.js';
import { killedBetweenCommands } from '../events/killed-between-commands.event.js';
import { lateRelease } from '../events/late-release.event.js';
import type { ScriptedEvent } from '../events/scripted-event.js';
import { Stage } from '../events/stage.js';
import { workBeyondLease } from '../events/work-beyond-lease.event.js';
import { keysOf, LOCK_KINDS, type LockKind } from '../locks/lock-kind.js';
import { Contenders } from './contenders.js';

const EVENTS: readonly ScriptedEvent[] = [holderKilled, killedBetweenCommands, workBeyondLease, lateRelease];

/** What became of one lock in one event. */
export interface Outcome {
  readonly lock: LockKind;
  readonly event: string;
  readonly survived: boolean;
  readonly outcome: string;
}

export interface ContestOptions {
  readonly redisUrl: string;
  readonly leaseSeconds: number;
  readonly signal: AbortSignal;
}

/** Plays all events at the same time, each with a holder and locks of its own. */
export async function playContest({ redisUrl, leaseSeconds, signal }: ContestOptions): Promise<Outcome[]> {
  const redis = new Redis(redisUrl);
  const contest = `naive-locks:${randomUUID()}`;
  try {
    await using contenders = new Contenders(
      { REDIS_URL: redisUrl, LEASE_SECONDS: `${leaseSeconds}` },
      signal,
    );
    const [next, third] = [contenders.start(), contenders.start()];
    const stages = EVENTS.map((event) => {
      const cast = { holder: contenders.start(), next, third, redis, lease: leaseSeconds * 1_000 };
      return { event, stage: new Stage({ ...cast, scene: sceneOf(contest, event) }) };
    });
    await contenders.ready();
    const outcomes = stages.map(async ({ event, stage }) => outcomesOf(event, await event.play(stage)));
    return (await Promise.all(outcomes)).flat();
  } finally {
    // Those that are stuck would stay for ever.
    await redis.del(EVENTS.flatMap((event) => keysOf(sceneOf(contest, event))));
    redis.disconnect();
  }
}

function sceneOf(contest: string, event: ScriptedEvent): string {
  return `${contest}:${event.title}`;
}

function outcomesOf(event: ScriptedEvent, failed: readonly LockKind[]): Outcome[] {
  return LOCK_KINDS.map((lock) => {
    const survived = !failed.includes(lock);
    return { lock, event: event.title, survived, outcome: survived ? event.survival : event.failure };
  });
}
