import { parseKeyTemplate } from '../../../lib/keys/key-template.js';
import { SEPARATORS } from './tricky-parts.js';

/** Every text of one to `length` of the letters. */
const textsUpTo = (length: number, letters: readonly string[]): string[] =>
  length === 1
    ? [...letters]
    : [
        ...letters,
        ...textsUpTo(length - 1, letters).flatMap((rest) => letters.map((letter) => letter + rest)),
      ];

/** The characters of the separator, and those that an escape is made of. */
const lettersAround = (separator: string, count: number): string[] =>
  [...new Set(Array.from(`${separator.replace('<<', '<')}%2Da`))].slice(0, count);

describe.each(SEPARATORS)('a key template with the separator %j', (separator) => {
  it('gives as many names as there are different pairs of texts', () => {
    const texts = textsUpTo(3, lettersAround(separator, 5));
    const template = parseKeyTemplate(`<0>${separator}<1>`);
    const names = texts.flatMap((a) => texts.flatMap((b) => template.resolve([a, b], 'S.m')));
    expect(new Set(names).size).toBe(new Set(texts).size ** 2);
  });

  it('gives as many names as there are different triples of texts', () => {
    const texts = textsUpTo(2, lettersAround(separator, 4));
    const template = parseKeyTemplate(`<0>${separator}<1>${separator}<2>`);
    const names = texts.flatMap((a) =>
      texts.flatMap((b) => texts.flatMap((c) => template.resolve([a, b, c], 'S.m'))),
    );
    expect(new Set(names).size).toBe(new Set(texts).size ** 3);
  });
});
