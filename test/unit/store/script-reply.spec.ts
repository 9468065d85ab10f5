import {
  forcedRelease,
  integer,
  isOne,
  list,
  text,
} from '../../../lib/store/redis/connection/script-reply.js';

describe('The reply of a script', () => {
  it('is an integer, also as text', () => {
    expect([7, '7', '-7', 0, '0'].map(integer)).toEqual([7, 7, -7, 0, 0]);
    expect(['1', 1, 2, 0].map(isOne)).toEqual([true, true, false, false]);
  });

  it.each(['n7', '7n', '1e7', '0x7', '', '7.5', 7.5, '9007199254740993', null, [7]])(
    'is not an integer: %p',
    (reply) => {
      expect(() => integer(reply)).toThrow('is not a reply of a script of this package');
    },
  );

  it('lists the owners of a forced release', () => {
    expect(forcedRelease([['a:1', 'b:2'], []])).toEqual({ released: ['a:1', 'b:2'], holders: [] });
    expect(() => forcedRelease([['a:1']])).toThrow('object is not a reply');
    expect(() => forcedRelease([['a:1'], [7]])).toThrow('number is not a reply');
  });

  it('that is unknown is quoted with at most 40 characters', () => {
    expect(() => list('QUEUED'.repeat(10))).toThrow(/^"(QUEUED){6}QUEU" is not a reply of a script/);
    expect(() => text(undefined)).toThrow('undefined is not a reply');
  });
});
