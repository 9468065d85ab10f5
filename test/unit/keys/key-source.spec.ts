import { LockConfigError, LockKeyError } from '../../../lib/errors/lock.error.js';
import { unreadable } from '../../support/unreadable.js';
import { compileKeySource, type KeySource } from '../../../lib/keys/key-source.js';

function revokedArray(): string[] {
  const { proxy, revoke } = Proxy.revocable<string[]>([], {});
  revoke();
  return proxy;
}

describe('a key source', () => {
  it('is a template', () => {
    expect(compileKeySource('order:<0>').resolve([42], 'S.m')).toEqual(['order:42']);
  });

  it('is several templates, whose names are sorted together and without repeats', () => {
    const source = compileKeySource(['b:<0>', 'a:<1[]>', 'b:<2>']);
    expect(source.resolve([1, ['y', 'x'], '1'], 'S.m')).toEqual(['a:x', 'a:y', 'b:1']);
  });

  it('is several templates, each with properties of the instance', () => {
    const source = compileKeySource(['b:<this.tenant>:<0>', 'a:<this.tenant>']);
    expect(source.resolve([1], 'S.m', { tenant: 'x' })).toEqual(['a:x', 'b:x:1']);
  });

  it('is a function of the arguments that returns one name', () => {
    const source = compileKeySource((order: { sku: string }, count: number) => `${order.sku}:${count}`);
    expect(source.resolve([{ sku: 'a b' }, 3], 'S.m')).toEqual(['a b:3']);
  });

  it('is a function that returns several names, sorted then and without repeats', () => {
    const names = Object.freeze(['b', 'a', 'b']);
    expect(compileKeySource(() => names).resolve([], 'S.m')).toEqual(['a', 'b']);
  });

  it('is a function that is called on the instance', () => {
    const source = compileKeySource(function (this: { tenant: string }, id: number) {
      return `${this.tenant}:${id}`;
    });
    expect(source.resolve([7], 'S.m', { tenant: 'a' })).toEqual(['a:7']);
  });

  it.each([
    ['nothing', undefined, 'is not a string but undefined'],
    ['null', null, 'is not a string but null'],
    ['an empty array', [], 'is missing, because the list is empty'],
    ['a number', 7, 'is not a string but a number'],
    ['a Promise', Promise.resolve('a'), 'is not a string but a Promise, which is not awaited'],
    ['an empty name', '', 'is empty'],
    ['a name with a control character', ['a', 'b\n'], 'contains a control character'],
    ['a hole among its names', Array(1), 'is not a string but undefined'],
    ['something else among its names', ['a', 7], 'is not a string but a number'],
  ])('refuses a function that returns %s, naming the method', (_, result, problem) => {
    const call = (): unknown => compileKeySource((() => result) as KeySource).resolve([], 'S.m');
    expect(call).toThrow(LockKeyError);
    expect(call).toThrow('S.m: the lock name from the key function ');
    expect(call).toThrow(problem);
  });

  it.each([
    ['a revoked Proxy', revokedArray()],
    ['an array with an accessor', Object.defineProperty(['a'], 0, { get: unreadable })],
  ])('refuses a function that returns %s, naming the method', (_, result) => {
    const call = (): unknown => compileKeySource(() => result).resolve([], 'S.m');
    expect(call).toThrow(LockKeyError);
    expect(call).toThrow('S.m: the lock name from the key function cannot be read');
  });

  it('passes on the error of a function', () => {
    const failure = new TypeError('no order');
    const source = compileKeySource(() => {
      throw failure;
    });
    const caught = jest.fn();
    try {
      source.resolve([], 'S.m');
    } catch (error) {
      caught(error);
    }
    expect(caught.mock.calls[0]?.[0]).toBe(failure);
  });

  it('parses templates when it is compiled, not when it is called', () => {
    expect(() => compileKeySource('order:<0')).toThrow(LockConfigError);
    expect(() => compileKeySource(['order:<0>', 'order:<'])).toThrow(LockConfigError);
  });

  it.each([[[]], [['a', 7]], [7], [null], [undefined], [{}]])('refuses %j as a key', (source) => {
    expect(() => compileKeySource(source as never)).toThrow(LockConfigError);
    expect(() => compileKeySource(source as never)).toThrow('a template such as "order:<0>"');
  });
});
