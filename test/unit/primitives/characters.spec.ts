import { CONTROL_CHARACTER, LONE_SURROGATE, UNPRINTABLE } from '../../../lib/primitives/characters.js';

describe('Characters by their numbers', () => {
  it.each([
    ['control characters', CONTROL_CHARACTER, /\p{Cc}/u],
    ['lone surrogates', LONE_SURROGATE, /\p{Surrogate}/u],
    ['either', UNPRINTABLE, /[\p{Cc}\p{Surrogate}]/u],
  ])('are the %s of Unicode', (_, byNumber, ofUnicode) => {
    const differ: number[] = [];
    for (let point = 0; point <= 0x10_ff_ff; point++) {
      const text = `a${String.fromCodePoint(point)}b`;
      if (byNumber.test(text) !== ofUnicode.test(text)) differ.push(point);
    }
    expect(differ).toEqual([]);
  });
});
