import { runInNewContext } from 'node:vm';
import { LockKeyError } from '../../../lib/errors/lock.error.js';
import { parseKeyTemplate } from '../../../lib/keys/key-template.js';

const resolve = (template: string, ...args: unknown[]): string[] =>
  parseKeyTemplate(template).resolve(args, 'OrdersService.place');

const thrownBy = (call: () => unknown): unknown => {
  try {
    return call();
  } catch (error) {
    return error;
  }
};

class Order {
  items = [{ sku: 'b' }, { sku: 'a' }];
  #sku = 'screw/7';
  get sku(): string {
    return this.#sku;
  }
}

class Preorder extends Order {}

describe('a key template', () => {
  it.each([
    ['a string', 'abc', 'abc'],
    ['a number', 7.5, '7.5'],
    ['zero', 0, '0'],
    ['negative zero, which equals zero', -0, '0'],
    ['a large number', 1e21, '1e%2B21'],
    ['a bigint', 2n ** 64n, '18446744073709551616'],
    ['true', true, 'true'],
    ['false', false, 'false'],
    ['a Date', new Date(0), '1970-01-01T00%3A00%3A00.000Z'],
    ['a Date of another realm', runInNewContext('new Date(0)'), '1970-01-01T00%3A00%3A00.000Z'],
    ['separators', 'a:b/c}<d>', 'a%3Ab%2Fc%7D%3Cd%3E'],
    ['control characters', 'a\nb', 'a%0Ab'],
    ['text beyond ASCII', 'ü😀', '%C3%BC%F0%9F%98%80'],
    ['a percent sign', '%2F', '%252F'],
  ])('takes %s', (_, value, part) => {
    expect(resolve('order:<0>', value)).toEqual([`order:${part}`]);
  });

  it('reads own properties, own and inherited getters, and properties of objects without a prototype', () => {
    expect(resolve('<0.customer.id>', { customer: { id: 5 } })).toEqual(['5']);
    expect(resolve('<0.sku>', new Order())).toEqual(['screw%2F7']);
    expect(resolve('<0.sku>', new Preorder())).toEqual(['screw%2F7']);
    expect(resolve('<0.sku>', Object.assign(Object.create(null), { sku: 'x' }))).toEqual(['x']);
  });

  it('gives one name per element, sorted and without repeats', () => {
    expect(resolve('stock:<0.items[].sku>', new Order())).toEqual(['stock:a', 'stock:b']);
    expect(resolve('<0[]>', ['b', 'a', 'b', 10, 9])).toEqual(['10', '9', 'a', 'b']);
    expect(resolve('<0[][]>', [['a', 'b'], ['c']])).toEqual(['a', 'b', 'c']);
  });

  it('takes the parts of placeholders with the same array from the same element', () => {
    const lines = [
      { warehouse: 'north', skus: ['a', 'b'] },
      { warehouse: 'south', skus: ['c'] },
    ];
    expect(resolve('<1>:<0[].warehouse>/<0[].skus[]>', lines, 7)).toEqual([
      '7:north/a',
      '7:north/b',
      '7:south/c',
    ]);
  });

  it('escapes the characteristic character of the separator in the part before it only', () => {
    expect(resolve('<0>-<1>', 'a-b', 'c-d')).toEqual(['a%2Db-c-d']);
    expect(resolve('<0>-<1>', 'a', 'b-c')).toEqual(['a-b-c']);
    expect(resolve('<0>x<1>', 'max', 'x')).toEqual(['ma%78xx']);
    expect(resolve('<0>0_1<1>', 'a_0_1', 'b')).toEqual(['a%5F0%5F10_1b']);
    expect(resolve('<0>-:<1>', 'a-b', 'c')).toEqual(['a-b-:c']);
    expect(resolve('a-<0>-b', 'c-d')).toEqual(['a-c-d-b']);
  });

  it.each([
    ['a missing argument', 'o:<1>', ['a'], '<1>', 'is undefined'],
    ['null', 'o:<0>', [null], '<0>', 'is null'],
    ['an empty string', 'o:<0>', [''], '<0>', 'is an empty string'],
    ['NaN', 'o:<0>', [Number.NaN], '<0>', 'is NaN'],
    ['Infinity', 'o:<0>', [-Infinity], '<0>', 'is an infinite number'],
    ['an invalid Date', 'o:<0>', [new Date(Number.NaN)], '<0>', 'is an invalid Date'],
    ['a lone surrogate', 'o:<0>', ['a\udc00'], '<0>', 'is a string with a lone surrogate'],
    ['a symbol', 'o:<0>', [Symbol('s')], '<0>', 'is a symbol'],
    ['a function', 'o:<0.f>', [{ f: () => 'x' }], '<0.f>', 'is a function'],
    ['an object', 'o:<0>', [{ toString: () => 'x' }], '<0>', 'is an object'],
    ['a boxed string', 'o:<0>', [Object('x')], '<0>', 'is an object'],
    ['an array', 'o:<0>', [['a']], '<0>', 'is an array'],
    ['an entry of a Map', 'o:<0.a>', [new Map([['a', 1]])], '<0.a>', 'is undefined'],
    ['a missing property', 'o:<0.a>', [{}], '<0.a>', 'is undefined'],
    ['a missing object', 'o:<0.a.b>', [{}], '<0.a.b>', 'for <0.a> is undefined'],
    ['a null object', 'o:<0.a.b.c>', [{ a: { b: null } }], '<0.a.b.c>', 'for <0.a.b> is null'],
    ['a property of a string', 'o:<0.length>', ['abc'], '<0.length>', 'for <0> is a string'],
    ['an empty array', 'o:<0.i[].s>', [{ i: [] }], '<0.i[].s>', 'for <0.i> is an empty array'],
    ['a string as an array', 'o:<0[]>', ['abc'], '<0[]>', 'for <0> is a string'],
    ['a Set as an array', 'o:<0[]>', [new Set(['a'])], '<0[]>', 'for <0> is an object'],
    ['a missing array', 'o:<0.i[]>', [{}], '<0.i[]>', 'for <0.i> is undefined'],
    ['an empty element', 'o:<0[].s>', [[{ s: 'a' }, null]], '<0[].s>', 'for <0[]> is null'],
    ['a hole in an array', 'o:<0[]>', [Array(1)], '<0[]>', 'is undefined'],
    ['an empty inner array', 'o:<0[][]>', [[['a'], []]], '<0[][]>', 'for <0[]> is an empty array'],
  ])(
    'rejects %s, with method, template, placeholder and the found value',
    (_, template, args, placeholder, found) => {
      const call = (): unknown => resolve(template, ...args);
      expect(call).toThrow(LockKeyError);
      expect(call).toThrow(
        `OrdersService.place: ${placeholder} of key template ${JSON.stringify(template)} `,
      );
      expect(call).toThrow(found);
    },
  );

  it('takes parts from the instance', () => {
    class Orders {
      readonly regions = ['north', 'south'];
      get tenant(): string {
        return 'a/b';
      }
    }
    const names = parseKeyTemplate('<this.tenant>:<0>').resolve([7], 'Orders.place', new Orders());
    expect(names).toEqual(['a%2Fb:7']);
    const each = parseKeyTemplate('<this.tenant>:<this.regions[]>').resolve([], 'Orders.place', new Orders());
    expect(each).toEqual(['a%2Fb:north', 'a%2Fb:south']);
    expect(() => parseKeyTemplate('<this.tenant>').resolve([], 'Orders.place', {})).toThrow(
      'Orders.place: <this.tenant> of key template "<this.tenant>" is undefined; a part of a key is',
    );
    expect(() => parseKeyTemplate('<this.tenant>').resolve([], 'Orders.place')).toThrow(
      '<this.tenant> of key template "<this.tenant>" cannot be filled in, for <this> is undefined',
    );
  });

  it('explains for an omitted argument when its default value is set', () => {
    const advice = 'a default value of the parameter is set after the lock is acquired';
    expect(() => resolve('order:<0>')).toThrow(advice);
    expect(() => resolve('order:<0>', null)).not.toThrow(advice);
    expect(() => resolve('order:<0.id>', {})).not.toThrow(advice);
  });

  it('advises what to write instead of an object with a text form only', () => {
    class ObjectId {
      toString(): string {
        return '66f1';
      }
    }
    const advice =
      'to lock by its text, use a function as the key, with String(…) in place of the placeholder';
    expect(() => resolve('order:<0.id>', { id: new ObjectId() })).toThrow(
      '<0.id> of key template "order:<0.id>" is an object of class ObjectId; a part of a key is',
    );
    expect(() => resolve('order:<0.id>', { id: new ObjectId() })).toThrow(advice);
    expect(() => resolve('<0>', new URL('http://127.0.0.1'))).toThrow(advice);
    const { toString } = new ObjectId();
    for (const prototype of [null, Object.create(null)])
      expect(() => resolve('<0>', Object.assign(Object.create(prototype), { toString }))).toThrow(
        'is an object of class unknown;',
      );
    for (const value of [
      {},
      [1],
      null,
      new Date(Number.NaN),
      Object.create(null),
      { constructor: { name: 'Ann' } },
    ]) {
      expect(() => resolve('<0>', value)).not.toThrow(advice);
      expect(() => resolve('<0>', value)).not.toThrow('Ann');
      expect(() => resolve('<0>', value)).toThrow(LockKeyError);
    }
  });

  it('refuses a name that is too long, saying how long it became', () => {
    expect(() => resolve('order:<0>', 'x'.repeat(507))).toThrow(LockKeyError);
    expect(() => resolve('order:<0>', 'x'.repeat(507))).toThrow(
      'OrdersService.place: the lock name from key template "order:<0>" is 513 bytes long',
    );
    expect(resolve('order:<0>', 'x'.repeat(506))).toHaveLength(1);
  });

  it('says that parts count as encoded if that makes a name too long', () => {
    expect(() => resolve('<0>', 'é'.repeat(100))).toThrow(
      'is 600 bytes long; a lock name is 1 to 512 bytes of UTF-8 without control characters, and does not start ' +
        'with "}". Parts count as encoded by encodeURIComponent, for which "é" is 6 bytes long.',
    );
  });

  it('never contains a value in a message, because it may be personal', () => {
    const calls = [
      () => resolve('<0.name>', 'ann@example.org'),
      () => resolve('<0>', 'ann@example.org'.repeat(100)),
      () => resolve('<0>', 'ann@example.org\ud800'),
      () => resolve('<0[]>', { name: 'ann@example.org' }),
    ];
    for (const call of calls) {
      expect(call).toThrow(LockKeyError);
      expect(call).not.toThrow('example.org');
    }
  });

  const failure = new Error('not loaded');
  const fail = (): never => {
    throw failure;
  };
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();

  it.each([
    [
      'a getter',
      '<0.sku>',
      {
        get sku() {
          return fail();
        },
      },
      failure,
    ],
    [
      'a getter on the way',
      '<0.item.sku>',
      {
        get item() {
          return fail();
        },
      },
      failure,
    ],
    [
      'a getter of an element',
      '<0[].sku>',
      [
        {
          get sku() {
            return fail();
          },
        },
      ],
      failure,
    ],
    ['an element', '<0[]>', Object.defineProperty(['a'], 0, { get: fail }), failure],
    ['the text of an object', '<0>', Object.defineProperty({}, 'toString', { get: fail }), failure],
    ['a Proxy', '<0.sku>', new Proxy({}, { get: fail }), failure],
    ['a revoked Proxy', '<0>', revoked, expect.any(TypeError)],
    ['a property of a revoked Proxy', '<0.sku>', revoked, expect.any(TypeError)],
    ['the elements of a revoked Proxy', '<0[]>', revoked, expect.any(TypeError)],
  ])('refuses a value that throws when it is read: %s', (_, template, value, cause) => {
    const error = thrownBy(() => resolve(template, value));
    expect(error).toBeInstanceOf(LockKeyError);
    expect(error).toMatchObject({
      message: `OrdersService.place: a value for key template "${template}" cannot be read, because an accessor or a Proxy throws.`,
      cause,
    });
  });

  it('refuses a property of the instance that throws', () => {
    const instance = Object.defineProperty({}, 'tenant', { get: fail });
    const error = thrownBy(() => parseKeyTemplate('<this.tenant>').resolve([], 'S.m', instance));
    expect(error).toBeInstanceOf(LockKeyError);
    expect(error).toHaveProperty('cause', failure);
  });
});
