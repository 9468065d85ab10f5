import {
  isRefusal,
  PassingRefusal,
  StoreRefusal,
  TooFewReplicas,
  refusalReason,
} from '../../../lib/store/store-errors.js';
import { Poll } from '../../../lib/store/quorum/poll.js';
import { ManualClock } from '../engine/manual-clock.js';

const refused = (node: string): Error =>
  new Error(`${node}: OOM`, { cause: new PassingRefusal('OOM command not allowed.') });
const noMajority = (errors: readonly Error[]): Error =>
  new Poll([], new ManualClock(), 50).noMajority(errors);
const silent = (node: string): Error => new Error(`${node}: did not answer within 50 ms`);

describe('The error reply of a store', () => {
  it.each([
    ['in its answer', new StoreRefusal('NOPERM User x has no permissions.')],
    ['when it was connected to', new Error('no answer', { cause: new PassingRefusal('WRONGPASS invalid') })],
  ])('%s is the reason of a refusal, without a full stop', (_when, error) => {
    expect(refusalReason(error)).toMatch(/^(NOPERM User x has no permissions|WRONGPASS invalid)$/);
  });

  it('at most of its nodes is the reason, with the reply of each', () => {
    const error = noMajority([refused('a'), refused('b'), silent('c')]);

    expect(refusalReason(error)).toMatch(/: a: OOM; b: OOM; c: did not answer within 50 ms$/);
  });

  it.each([
    ['at a minority of its nodes', noMajority([refused('a'), silent('b'), silent('c')])],
    ['nothing, for it is away', new Error('no answer', { cause: new Error('connect ECONNREFUSED') })],
    ['nothing that is known', undefined],
  ])('%s is none', (_what, error) => {
    expect(refusalReason(error)).toBeUndefined();
  });
});

describe('The error of a quorum', () => {
  const forbidden = new Error('b: NOPERM', { cause: new StoreRefusal('NOPERM') });

  it.each([
    ['is a refusal if most of its nodes refuse', [forbidden, forbidden, silent('c')], true],
    ['is none if half of its nodes refuse', [forbidden, forbidden, silent('c'), silent('d')], false],
    ['is none if its nodes refuse for a while', [refused('a'), refused('b'), silent('c')], false],
  ])('%s', (_what, errors, expected) => {
    expect(isRefusal(noMajority(errors))).toBe(expected);
  });
});

describe('The error of a grant with too few replicas', () => {
  it('says how many were wanted, for how long, and what to check', () => {
    const grants = [{ owner: 'me:1', token: 1, tokens: 1 }];

    expect(new TooFewReplicas(grants, { min: 2, timeout: 100 }).message).toBe(
      'Fewer than 2 replicas confirmed the grant within 100 ms (option replicas): ' +
        'are they connected, and is replicas.timeout long enough for them?',
    );
  });
});
