import {
  checksOf,
  closestName,
  isMilliseconds,
  oneOf,
  assertOptions,
  printableValue,
  wholeNumber,
} from '../../../lib/options/option-checks.js';

describe('a rejected value in an error', () => {
  it.each([
    ['x'.repeat(80), `"${'x'.repeat(80)}"`],
    ['x'.repeat(81), `"${'x'.repeat(80)}…"`],
    ['a\nb', String.raw`"a\nb"`],
    [undefined, 'undefined'],
    [null, 'null'],
    [() => 5, 'a function'],
    [[1, 2], 'an array of 2'],
    [{ password: 'secret' }, 'an object (Object)'],
    [Object.create(null), 'an object (no class)'],
    [new Date(0), 'an object (Date)'],
  ])('is short and has no contents of objects: %p', (value, text) => {
    expect(printableValue(value)).toBe(text);
  });
});

describe('a whole number', () => {
  it.each([3, 7])('includes the ends of its range: %p', (value) => {
    expect(() => wholeNumber(3, 7)('max', value)).not.toThrow();
  });

  it.each([2, 8, 3.5, '5', Number.NaN])('is refused outside of its range: %p', (value) => {
    expect(() => wholeNumber(3, 7)('max', value)).toThrow('max must be a whole number, from 3 to 7, but is');
  });

  it('says "or more" without an upper end', () => {
    expect(() => wholeNumber(1)('limit', 0)).toThrow('limit must be a whole number, 1 or more, but is 0.');
  });
});

describe('milliseconds', () => {
  it.each([
    [10, { min: 10 }, true],
    [9.9, { min: 10 }, false],
    [10.5, { min: 10 }, true],
    [10.5, { min: 10, whole: true }, false],
    [2_147_483_647, { min: 10 }, true],
    [2_147_483_648, { min: 10 }, false],
    [Infinity, { min: 10 }, false],
    [Infinity, { min: 10, infinite: true }, true],
    [5, { min: 10, infinite: true }, false],
    ['15', { min: 10 }, false],
  ])('%p within %p: %p', (value, range, expected) => {
    expect(isMilliseconds(value, range)).toBe(expected);
  });
});

describe('one of several values', () => {
  it('lists them as they are written in code', () => {
    const check = oneOf('warn', false);
    expect(() => check('startupChecks', false)).not.toThrow();
    expect(() => check('startupChecks', 'off')).toThrow(
      `startupChecks must be 'warn' or false, but is "off".`,
    );
  });
});

describe('a misspelt option', () => {
  it.each([
    ['maxhold', 'maxHold'],
    ['tll', 'ttl'],
    ['maxHld', 'maxHold'],
    ['minHold', 'minHold'],
    ['mxHld', 'maxHold'],
    ['mxHd', undefined],
    ['mxd', undefined],
    ['outageTimout', 'outageTimeout'],
    ['lifetime', undefined],
  ])('%s: the closest name is %s', (name, closest) => {
    expect(closestName(name, ['ttl', 'maxHold', 'minHold', 'outageTimeout'])).toBe(closest);
  });

  it('is refused with its path and a suggestion', () => {
    const checks = checksOf({ window: { check: wholeNumber(0) }, max: { check: wholeNumber(1) } });
    const refuse = (options: object) => (): void => assertOptions('handoff', options, checks, 'handoff.');
    expect(refuse({ windw: 5 })).toThrow('There is no option handoff.windw. Did you mean handoff.window?');
    expect(refuse({ colour: 5 })).toThrow('Known here: handoff.window, handoff.max.');
    expect(refuse({ max: 0 })).toThrow('handoff.max must be');
    expect(refuse({ max: undefined })).not.toThrow();
  });

  it('is found in an object with a getter', () => {
    class Options {
      get max(): number {
        return 0;
      }
    }
    const checks = checksOf({ max: { check: wholeNumber(1) } });
    expect(() => assertOptions('handoff', new Options(), checks, 'handoff.')).toThrow('handoff.max must be');
  });
});
