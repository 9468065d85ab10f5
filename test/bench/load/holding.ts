import type { Contestant, Together } from '../contestant.js';
import type { LoadPlan, SeveralNames } from './load-plan.js';

/** Has a caller hold what it wants next, for as long as the work lasts. */
type Holding = (caller: number, work: () => Promise<void>, together?: Together) => Promise<void>;

/**
 * How a plan's callers hold its names.
 *
 * @param overlapping is called where one of several names is had twice at once in this process
 */
export function holdingOf(contestant: Contestant, plan: LoadPlan, overlapping: () => void): Holding {
  if (typeof plan.names !== 'object') {
    const nameOf = nameOfCaller(plan);
    return (caller, work, together) => contestant.hold(nameOf(caller), work, together);
  }
  const inside = new Inside(overlapping);
  const namesOf = severalOfCaller(plan.names, plan.name);
  return (caller, work) => {
    const names = namesOf(caller);
    if (!contestant.holdAll) throw new Error('It takes one name at a time.');
    return contestant.holdAll(names, () => inside.during(names, work));
  };
}

/** Looks that no name is had twice at once. */
class Inside {
  private readonly names = new Set<string>();

  constructor(private readonly overlapping: () => void) {}

  async during(names: readonly string[], work: () => Promise<void>): Promise<void> {
    if (names.some((name) => this.names.has(name))) this.overlapping();
    for (const name of names) this.names.add(name);
    await work();
    for (const name of names) this.names.delete(name);
  }
}

function severalOfCaller(
  { own, shared, outOf }: SeveralNames,
  name: string,
): (caller: number) => readonly string[] {
  return (caller) => {
    const names = Array.from({ length: own }, (_, i) => `${name}:${process.pid}:${caller}:${i}`);
    const wanted = new Set<number>();
    while (wanted.size < shared) wanted.add(Math.floor(Math.random() * outOf));
    return [...names, ...[...wanted].map((each) => `${name}:shared:${each}`)];
  };
}

function nameOfCaller({ names, name, callers }: LoadPlan): (caller: number) => string {
  if (names === 'own') {
    const own = Array.from({ length: callers }, (_, caller) => `${name}:${caller}`);
    return (caller) => own[caller] ?? name;
  }
  if (typeof names !== 'number') return () => name;
  let turn = 0;
  return () => `${name}:${turn++ % names}`;
}
