import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { EngineFixture, observe } from './engine-fixture.js';
import { shares } from './scripted-store.js';

const TWO = { mode: 'shared', ttl: 30_000, limit: 4, permits: 2 } as const;
const ONE = { ...TWO, permits: 1 } as const;

let fixture: EngineFixture;
beforeEach(() => (fixture = new EngineFixture()));

const enter = (options: LockOptions = TWO) => observe(fixture.acquire(options));

describe('A call for several permits', () => {
  it('asks for all of them in one bid with the others that take as many', async () => {
    const holding = [enter(), enter(), enter(ONE)];
    const asked = await fixture.store.next('share');
    expect(asked.request).toMatchObject({ holds: 2, terms: { permits: 2, limit: 4 } });
    await asked.answer(shares('s2of4', 200, { holds: 2 }));

    expect(holding.map(({ value }) => value?.fencingToken)).toEqual([200, 201, undefined]);
    expect(holding.map(({ value }) => value?.permits)).toEqual([2, 2, undefined]);
    expect((await fixture.store.next('share')).request.terms).toEqual({ permits: 1, limit: 4 });
  });
});
