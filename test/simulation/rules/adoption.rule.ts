import { CLOCK_SLACK, type Court, type Rule, TIMER_SLACK } from './court.js';

/** A lock that the server keeps for an instance. */
interface Kept {
  readonly owner: string;
  readonly since: number;
}

/** A waiter takes up what the server already keeps for its instance, also when the answer that granted it was lost. */
export class AdoptionRule implements Rule {
  /** By name: locks that their instances do not use. */
  private readonly unused = new Map<string, Kept>();

  constructor(private readonly court: Court) {}

  beforeEvent(): void {
    const { attempts, fail, quietSince, servers, time } = this.court;
    const bound = servers.healing + 4 * servers.longestTrip + TIMER_SLACK + CLOCK_SLACK;
    for (const [name, { owner, since }] of this.unused) {
      const idle = time.now - Math.max(since, quietSince);
      if (idle <= bound) continue;
      const head = attempts.find(
        ({ caller, state, step }) => state === 'waiting' && step.name === name && caller[0] === owner[0],
      );
      if (!head?.process.awake) continue;
      const { caller, process, startedAt } = head;
      const waited = (process.now() - Math.max(startedAt, process.wokeAt)) / process.rate;
      if (waited > bound)
        fail(`${caller} waits for ${name}, which its own instance has as ${owner} without using it`);
    }
  }

  afterEvent(): void {
    const { attempts, held, names, time } = this.court;
    for (const name of names) {
      const owner = held(name)[0]?.owner ?? '';
      const isUsed = attempts.some(
        ({ caller, state, step, ...call }) =>
          call.names.includes(name) &&
          caller[0] === owner[0] &&
          // A hold that is lost on its way to another instance is left to its lease. A call for several names keeps what it
          // has while it waits for the rest.
          (step.pass !== undefined || state === 'holding' || (state === 'waiting' && call.names.length > 1)),
      );
      if (isUsed || !/^.:[1-9]\d*$/.test(owner)) this.unused.delete(name);
      else if (this.unused.get(name)?.owner !== owner) this.unused.set(name, { owner, since: time.now });
    }
  }
}
