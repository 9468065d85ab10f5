import { Hold } from '../../../lib/engine/hold/hold.js';
import { Lease } from '../../../lib/engine/hold/lease.js';
import { LOCK_OPTION_DEFAULTS, resolveLockOptions } from '../../../lib/options/lock-options.js';
import { EngineFixture } from './engine-fixture.js';

const NAMES = Array.from({ length: 10_000 }, (_, i) => `n${i}`);

type Owner = readonly [name: string, owner: string];

describe('The leases of an instance', () => {
  let fixture: EngineFixture;

  beforeEach(() => void (fixture = new EngineFixture()));

  /** A lease whose hold has its owner id as its label. */
  function leaseOf(name: string, owner: string): Lease {
    const lease = new Lease(name, { owner, token: 1, tokens: 1 }, 9_000, fixture.clock.now());
    const options = resolveLockOptions(LOCK_OPTION_DEFAULTS, { label: owner });
    lease.hold = new Hold([name], 1, fixture.engine.leases, lease, options, fixture.clock.now());
    return lease;
  }

  function labelsOf(owners: readonly Owner[]) {
    return owners.map(([name, owner]) => fixture.engine.labelOf({ name, owner }));
  }

  /** The shortest of several times that finding the labels took, because other work makes single ones longer. */
  function timeToFind(owners: readonly Owner[]): number {
    const times = Array.from({ length: 50 }, () => {
      const startedAt = performance.now();
      labelsOf(owners);
      return performance.now() - startedAt;
    });
    return Math.min(...times);
  }

  it('are found as soon among 10,000 that came from other instances as among 500', () => {
    const keep = (lease: Lease): void => fixture.engine.leases.adopt(lease);
    const owners = NAMES.map((name, i) => [name, `me~0:${i}`] as const);
    const few = owners.slice(0, 500);
    for (const [name, owner] of few) keep(leaseOf(name, owner));
    const amongFew = timeToFind(few);
    for (const [name, owner] of owners.slice(500)) keep(leaseOf(name, owner));

    // A scan of all leases for each would take 20 times as long.
    expect(timeToFind(few)).toBeLessThan(3 * amongFew);
    expect(labelsOf(owners)).toEqual(owners.map(([, owner]) => owner));
  });

  it('are distinguished if a name has several', () => {
    const owners = ['me~sa:1', 'me~sb:2'].map((owner) => ['n', owner] as const);
    for (const [name, owner] of owners) fixture.engine.leases.adopt(leaseOf(name, owner));
    const others = [
      ['n', 'me~sc:3'],
      ['m', 'me~sa:1'],
    ] as const;

    expect(labelsOf(owners)).toEqual(['me~sa:1', 'me~sb:2']);
    expect(labelsOf(others)).toEqual([undefined, undefined]);
  });
});
