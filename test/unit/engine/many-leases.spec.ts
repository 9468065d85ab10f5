import { Hold } from '../../../lib/engine/hold/hold.js';
import { Lease } from '../../../lib/engine/hold/lease.js';
import { LOCK_OPTION_DEFAULTS, resolveLockOptions } from '../../../lib/options/lock-options.js';
import { EngineFixture } from './engine-fixture.js';

const NAMES = Array.from({ length: 10_000 }, (_, i) => `n${i}`);

describe('The leases of an instance', () => {
  let fixture: EngineFixture;

  beforeEach(() => void (fixture = new EngineFixture()));

  /** A lease whose hold has its owner id as its label. */
  function leaseOf(name: string, owner: string): Lease {
    const lease = new Lease(name, { owner, token: 1, tokens: 1 }, 9_000, fixture.clock.now());
    const options = resolveLockOptions(LOCK_OPTION_DEFAULTS, { label: owner });
    lease.holds = [new Hold([name], 1, fixture.engine.leases, lease, options, fixture.clock.now())];
    return lease;
  }

  function labelsWithin(owners: readonly (readonly [name: string, owner: string])[]) {
    const startedAt = performance.now();
    const labels = owners.map(([name, owner]) => fixture.engine.labelOf({ name, owner }));
    return { labels, took: performance.now() - startedAt };
  }

  it('are found at once among 10,000 that came from other instances', () => {
    const owners = NAMES.map((name, i) => [name, `me~0:${i}`] as const);
    for (const [name, owner] of owners) fixture.engine.leases.adopt(leaseOf(name, owner));
    const { labels, took } = labelsWithin(owners);

    expect(labels).toEqual(owners.map(([, owner]) => owner));
    // A scan of all leases for each takes ten times as long.
    expect(took).toBeLessThan(250);
  });

  it('are found at once among 10,000 of several names', () => {
    const owners = NAMES.map((name, i) => [name, `me~m${i}:${i}`] as const);
    for (const [name, owner] of owners) {
      const lease = leaseOf(name, owner);
      lease.together = [name];
      fixture.engine.leases.beginJoint(lease, LOCK_OPTION_DEFAULTS);
    }
    const { labels, took } = labelsWithin(owners);

    expect(labels).toEqual(owners.map(([, owner]) => owner));
    // A scan of all leases for each takes ten times as long.
    expect(took).toBeLessThan(250);
  });

  it('are distinguished if a name has several', () => {
    const owners = ['me~sa:1', 'me~sb:2'].map((owner) => ['n', owner] as const);
    for (const [name, owner] of owners) fixture.engine.leases.adopt(leaseOf(name, owner));
    const others = [
      ['n', 'me~sc:3'],
      ['m', 'me~sa:1'],
    ] as const;

    expect(labelsWithin(owners).labels).toEqual(['me~sa:1', 'me~sb:2']);
    expect(labelsWithin(others).labels).toEqual([undefined, undefined]);
  });
});
