import * as fc from 'fast-check';
import { LockConfigError } from '../../../lib/errors/lock.error.js';
import { assertLockName } from '../../../lib/keys/lock-name.js';
import { parseKeyTemplate, type KeyTemplate } from '../../../lib/keys/key-template.js';
import { CHARACTERS, SEPARATORS } from './tricky-parts.js';

type Part = string | number | bigint | boolean | Date;

/**
 * What tells two parts apart is their text: 7 and '7' are the same part, and so are 0 and -0.
 * Two argument lists are the same for a template if the parts that it names are the same.
 */
const textOf = (part: Part): string => (part instanceof Date ? part.toISOString() : String(part));
const textsOf = (parts: readonly Part[]): string => JSON.stringify(parts.map(textOf));

const text = fc.string({ unit: fc.constantFrom(...CHARACTERS), minLength: 1, maxLength: 5 });
const part: fc.Arbitrary<Part> = fc.oneof(
  { weight: 5, arbitrary: text },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 5 }) },
  { weight: 2, arbitrary: fc.integer({ min: -2, max: 25 }) },
  { weight: 2, arbitrary: fc.integer({ min: -2, max: 25 }).map(String) },
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.bigInt({ min: -2n, max: 25n }),
  fc.boolean(),
  fc.constantFrom('true', 'false', -0, '1970-01-01T00:00:00.001Z'),
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(3) }),
);
const parts = (count: number): fc.Arbitrary<Part[]> => fc.array(part, { minLength: count, maxLength: count });

/** `count` placeholders among random literals; where the parser refuses what stands between them, another one. */
const template = (count: number): fc.Arbitrary<KeyTemplate> => {
  const literalCharacter = fc.constantFrom(...CHARACTERS.filter((character) => character !== '<'));
  const literal = fc.oneof(
    fc.string({ unit: literalCharacter, maxLength: 3 }),
    fc.constantFrom(...SEPARATORS),
  );
  return fc
    .array(literal, { minLength: count, maxLength: count })
    .map((literals) => parsedOrRefused(literals.map((following, index) => `<${index}>${following}`).join('')))
    .filter((parsed) => parsed !== undefined);
};

function parsedOrRefused(source: string): KeyTemplate | undefined {
  try {
    return parseKeyTemplate(source);
  } catch (error) {
    if (error instanceof LockConfigError) return undefined;
    throw error;
  }
}

/** Two lists of parts, the second one cut out of what could be the first one's key. */
const lookalikes = (count: number): fc.Arbitrary<[Part[], Part[]]> => {
  const cut = fc.tuple(fc.nat(12), fc.integer({ min: 1, max: 8 }));
  const cuts = fc.array(cut, { minLength: count, maxLength: count });
  return fc
    .tuple(parts(count), fc.constantFrom(...SEPARATORS), fc.boolean(), cuts)
    .map(([list, separator, encoded, at]) => {
      const texts = list.map((one) => (encoded ? encodeURIComponent(textOf(one)) : textOf(one)));
      const characters = Array.from(texts.join(separator));
      return [list, at.map(([begin, length]) => characters.slice(begin, begin + length).join('') || 'a')];
    });
};

// The two with thousands of runs return what holds: an `expect` takes as long as all the rest of a run.
describe('the names that a key template gives', () => {
  it.each([1, 2, 3])(
    'are the same for two lists of arguments exactly if their %i parts have the same text',
    (count) => {
      const pairs = fc.oneof(lookalikes(count), fc.tuple(parts(count), parts(count)));
      fc.assert(
        fc.property(template(count), pairs, (parsed, [one, other]) => {
          const sameName = parsed.resolve(one, 'S.m')[0] === parsed.resolve(other, 'S.m')[0];
          return sameName === (textsOf(one) === textsOf(other));
        }),
        { numRuns: 5_000 },
      );
    },
  );

  it('are the same for two arrays exactly if they have the same set of elements', () => {
    const element = fc.tuple(text, text).map(([a, b]) => ({ a, b }));
    const elements = fc.array(element, { minLength: 1, maxLength: 3 });
    const setOf = (list: readonly { a: string; b: string }[]): string =>
      JSON.stringify([...new Set(list.map(({ a, b }) => JSON.stringify([a, b])))].toSorted());
    const shuffled = elements.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray([...list, ...list], { minLength: list.length })),
    );
    const walking = fc
      .constantFrom('<0[].a>-<0[].b>', '<0[].a>:<0[].b>', '<0[].b>x<0[].a>')
      .map(parseKeyTemplate);
    fc.assert(
      fc.property(walking, fc.oneof(shuffled, fc.tuple(elements, elements)), (parsed, [one, other]) => {
        const sameNames = textsOf(parsed.resolve([one], 'S.m')) === textsOf(parsed.resolve([other], 'S.m'));
        return sameNames === (setOf(one) === setOf(other));
      }),
      { numRuns: 5_000 },
    );
  });

  it('are valid lock names, sorted and without repeats', () => {
    const anyText = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 1, maxLength: 5 }), (texts) => {
        const names = parseKeyTemplate('order:<0[]>').resolve([texts], 'S.m');
        for (const name of names) assertLockName(name);
        expect(names).toEqual(
          [...new Set(texts.map((one) => `order:${encodeURIComponent(one)}`))].toSorted(),
        );
      }),
    );
  });

  it('contain the texts through encodeURIComponent only, if the separator cannot be part of one', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const names = parseKeyTemplate('stock:<0>/<1>').resolve([a, b], 'S.m');
        expect(names).toEqual([`stock:${encodeURIComponent(a)}/${encodeURIComponent(b)}`]);
      }),
    );
  });
});
