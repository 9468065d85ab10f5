import { anything, assert, constantFrom, property, string } from 'fast-check';
import { runInNewContext } from 'node:vm';
import { messageOf, stackOf } from '../../../lib/primitives/message-of.js';
import { unreadable } from '../../support/unreadable.js';

const traps = { get: unreadable, has: unreadable, getPrototypeOf: unreadable };

/** Values whose text cannot be read. */
const HOSTILE: readonly unknown[] = [
  Object.create(null),
  { toString: unreadable },
  { toString: () => ({}), valueOf: () => ({}) },
  { [Symbol.toPrimitive]: unreadable },
  Object.defineProperty(new Error('hidden'), 'message', { get: unreadable }),
  Object.assign(new AggregateError([]), { message: Object.create(null), toString: unreadable }),
  new AggregateError([new Error('one'), Object.create(null)]),
  new Proxy({}, traps),
  new Proxy(new Error('hidden'), traps),
  Object.setPrototypeOf(() => undefined, null),
];

describe('The message of a thrown value', () => {
  it('is that of an error, of any realm', () => {
    assert(
      property(string({ minLength: 1 }), constantFrom(Error, runInNewContext('TypeError')), (text, Class) => {
        expect(messageOf(new Class(text))).toBe(text);
      }),
    );
  });

  it('is the text of any other value', () => {
    assert(
      property(anything({ withNullPrototype: true, withBigInt: true, withDate: true }), (value) => {
        expect(typeof messageOf(value)).toBe('string');
      }),
    );
    expect([undefined, null, 5n, 'text', Symbol('sign'), ['a', 'b']].map(messageOf)).toEqual([
      'undefined',
      'null',
      '5',
      'text',
      'Symbol(sign)',
      'a,b',
    ]);
  });

  it('is the name of an error without a message', () => {
    expect(messageOf(new TypeError())).toBe('TypeError');
  });

  it('lists the messages of several errors without a common one', () => {
    const errors = [new Error('connect ECONNREFUSED ::1:1'), new TypeError(), 'refused'];

    expect(messageOf(new AggregateError(errors))).toBe('connect ECONNREFUSED ::1:1; TypeError; refused');
    expect(messageOf(new AggregateError(errors, 'all failed'))).toBe('all failed');
  });

  it('ends for an error that contains itself', () => {
    const error = new AggregateError([]);
    error.errors = [error, error];

    expect(messageOf(error)).toBe('AggregateError; AggregateError');
  });

  it.each(HOSTILE.map((value) => [value]))('is a fixed text for a value that cannot be read', (value) => {
    expect(messageOf(value)).toBe('a value without text');
  });

  it('is in its stack, if it has one that can be read', () => {
    const error = runInNewContext("new TypeError('broken')") as Error;

    expect(stackOf(error)).toMatch(/^TypeError: broken\n {4}at /);
    expect(stackOf(Object.assign(new Error('broken'), { stack: undefined }))).toBe('broken');
    expect(stackOf(Object.defineProperty(new Error('broken'), 'stack', { get: unreadable }))).toBe('broken');
    expect(stackOf(Symbol('sign'))).toBe('Symbol(sign)');
    expect(stackOf(new Proxy(new Error('hidden'), traps))).toBe('a value without text');
  });
});
