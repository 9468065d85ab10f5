import { MemoryLockServer } from '../../../lib/store/memory/memory-lock-server.js';

// test/conformance compares everything else with the scripts.
describe('A list of the memory server', () => {
  it('has only names with holders', () => {
    let now = 1_000;
    const server = new MemoryLockServer(() => now);
    const request = { tokens: 1, place: undefined, endedToken: 0 };
    for (const [i, name] of ['n:1', 'n:2', 'other'].entries())
      server.acquire('a', { ...request, name, ttl: 100 * (i + 1) });
    now += 100;

    expect(server.list('n:').map(({ held }) => held[0]?.name)).toEqual(['n:2']);
  });
});
