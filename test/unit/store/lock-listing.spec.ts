import { listingOf } from '../../../lib/store/lock-listing.js';
import type { LockInfo } from '../../../lib/store/lock-snapshot.interface.js';

describe('The listing of a name', () => {
  it.each([
    { holders: 'its only holder', labels: ['OrdersService.pay'], label: ['OrdersService.pay'] },
    { holders: 'a holder with an unknown label', labels: [undefined], label: [] },
    { holders: 'several holders', labels: ['OrdersService.pay', 'OrdersService.list'], label: [] },
  ])('has the label $label of $holders', ({ labels, label }) => {
    const held = labels.map((each, i): LockInfo => {
      return {
        name: 'n',
        mode: 'shared',
        owner: `web-1~s:${i}`,
        ...(each === undefined ? {} : { label: each }),
      };
    });
    const listing = Object.entries(listingOf({ held, pending: [] }));

    expect(listing.filter(([key]) => key === 'label')).toEqual(label.map((each) => ['label', each]));
  });

  it('of one holder has its age, and is only what is known', () => {
    const held: LockInfo = { name: 'n', mode: 'exclusive', owner: 'web-1:7', remaining: 900 };
    const listing = { ...held, holders: 1, waiting: 0 };

    expect(listingOf({ held: [held], pending: [] })).toStrictEqual(listing);
    expect(listingOf({ held: [{ ...held, since: new Date(5) }], pending: [] })).toStrictEqual({
      ...listing,
      since: new Date(5),
    });
  });
});
