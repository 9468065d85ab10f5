import { sortedNames } from '../../../lib/keys/lock-name.js';

describe('The order of several names', () => {
  it.each([
    [[], []],
    [
      ['b', 'a'],
      ['a', 'b'],
    ],
    [
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ],
    [
      ['a', 'a', 'b'],
      ['a', 'b'],
    ],
    [
      ['b', 'a', 'b'],
      ['a', 'b'],
    ],
    [
      ['Z', 'a', 'ä', '𝒳', '\uFFFD'],
      ['Z', 'a', 'ä', '𝒳', '\uFFFD'],
    ],
    [
      ['\uFFFD', '𝒳'],
      ['𝒳', '\uFFFD'],
    ],
  ])('of %j is %j', (names, sorted) => {
    expect(sortedNames(names)).toEqual(sorted);
  });

  it('is a list of its own, which may be changed', () => {
    const names = ['a', 'b'];

    expect(sortedNames(names)).not.toBe(names);
  });
});
