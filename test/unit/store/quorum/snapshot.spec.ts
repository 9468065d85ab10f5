import type { LockInfo, LockSnapshot } from '../../../../lib/store/lock-snapshot.interface.js';
import { mergeSnapshots } from '../../../../lib/store/quorum/quorum-operations.js';

const held = (remaining: number): LockSnapshot => ({
  held: [{ name: 'n', mode: 'exclusive', owner: 'web-1:7', remaining }],
  pending: [],
});
const waiting = (time: number): LockInfo => ({
  ...{ name: 'n', mode: 'exclusive', owner: 'web-2', since: new Date(time) },
});

describe('The holders at several nodes', () => {
  it.each([
    ['all nodes', [300, 100, 200], 200],
    ['a majority', [100, 300], 100],
  ])('last while a majority keeps them: %s', (_, remaining, expected) => {
    // A node without the hold answers, too.
    const snapshots = [...remaining.map(held), { held: [], pending: [] }].slice(0, 3);
    expect(mergeSnapshots(snapshots, 3).held).toMatchObject([{ owner: 'web-1:7', remaining: expected }]);
  });

  it('are unknown if only a minority keeps them', () => {
    const nothing = { held: [], pending: [] };
    expect(mergeSnapshots([held(300), nothing, nothing], 3).held).toEqual([]);
  });

  it('wait since the first node has queued them', () => {
    const snapshots = [300, 100, 200].map((time) => ({ held: [], pending: [waiting(time)] }));
    expect(mergeSnapshots(snapshots, 3).pending).toEqual([waiting(100)]);
  });
});
