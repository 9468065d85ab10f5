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

  it('are found without a look at 10,000 others that came from other instances', () => {
    const seen = new Set<string>();
    const owners = NAMES.map((name, i) => [name, `me~0:${i}`] as const);
    for (const [name, owner] of owners)
      fixture.engine.leases.adopt(
        new Proxy(leaseOf(name, owner), {
          get: (lease, property, itself) => (seen.add(owner), Reflect.get(lease, property, itself)),
        }),
      );
    seen.clear();

    const few = owners.filter((_, i) => i % 100 === 0);
    expect(labelsOf(few)).toEqual(few.map(([, owner]) => owner));
    // A scan of all leases would look at the others as well.
    expect([...seen].toSorted()).toEqual(few.map(([, owner]) => owner).toSorted());
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
