import { main } from '../../../lib/cli/program.js';
import { unreadable } from '../../support/unreadable.js';

describe('a command that fails with', () => {
  it.each<[string, unknown, RegExp]>([
    ['an error', new TypeError('broken'), /^nest-redis-lock: TypeError: broken\n    at /],
    [
      'an error whose stack cannot be read',
      Object.defineProperty(new Error('broken'), 'stack', { get: unreadable }),
      /: broken\n$/,
    ],
    ['a symbol', Symbol('broken'), /: Symbol\(broken\)\n$/],
    ['an object without a prototype', Object.create(null), /: a value without text\n$/],
    ['undefined', undefined, /: undefined\n$/],
  ])('%s prints it, and exits with 70', async (_kind, thrown, printed) => {
    const output = jest.spyOn(process.stdout, 'write').mockImplementation(() => {
      throw thrown;
    });
    const errors = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      expect(await main(['alerts'])).toBe(70);
      expect(errors.mock.calls.map(([text]) => text)).toEqual([expect.stringMatching(printed)]);
    } finally {
      output.mockRestore();
      errors.mockRestore();
    }
  });
});
