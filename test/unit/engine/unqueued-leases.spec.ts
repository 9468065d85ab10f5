import { Lease } from '../../../lib/engine/hold/lease.js';
import { EngineFixture } from './engine-fixture.js';

describe('Leases that belong to no queue', () => {
  it('are found at once among 10,000', () => {
    const { unqueued } = new EngineFixture().engine;
    const names = Array.from({ length: 10_000 }, (_, i) => `n${i}`);
    for (const name of names)
      unqueued.keep(new Lease(name, { owner: 'me~0:1', token: 1, tokens: 1 }, 9_000, 0));
    const startedAt = performance.now();
    const found = names.map((name) => unqueued.leasesOf(name, 'me~0:1')?.name);
    const took = performance.now() - startedAt;

    expect(found).toEqual(names);
    // A scan of all takes twice as long.
    expect(took).toBeLessThan(75);
  });

  it('are distinguished if a name has several', () => {
    const { unqueued } = new EngineFixture().engine;
    const owners = ['me~sa:1', 'me~sb:2'];
    const kept = owners.map((owner) =>
      unqueued.keep(new Lease('n', { owner, token: 1, tokens: 1 }, 9_000, 0)),
    );

    expect(owners.map((owner) => unqueued.leasesOf('n', owner))).toEqual(kept);
    expect(unqueued.leasesOf('n', 'me~sc:3')).toBeUndefined();
    expect(unqueued.leasesOf('m', 'me~sa:1')).toBeUndefined();
  });
});
