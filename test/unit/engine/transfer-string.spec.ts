import { parseTransfer } from '../../../lib/engine/hold/transfer-string.js';

const VALID = ['order:42', 'a1', 70, 0, 'exclusive', 1, 30_000];

/** A string of the form that `detach()` returns. */
const transfer = (...content: readonly unknown[]): string =>
  `lock1.${Buffer.from(JSON.stringify(content)).toString('base64url')}`;

describe('The string of a detached hold', () => {
  it('contains each hold', () => {
    expect(parseTransfer(transfer('s', VALID, ['n', 'b2', 7, 250, 'shared', 3, 500]))).toEqual({
      secret: 's',
      holds: [
        {
          name: 'order:42',
          instance: 'a1',
          token: 70,
          minHold: 0,
          mode: 'exclusive',
          permits: 1,
          ttl: 30_000,
        },
        { name: 'n', instance: 'b2', token: 7, minHold: 250, mode: 'shared', permits: 3, ttl: 500 },
      ],
    });
  });

  it.each([
    ['no string', undefined],
    ['another prefix', transfer('s', VALID).replace('lock1', 'lock2')],
    ['a part of it', transfer('s', VALID).slice(0, 20)],
    ['content that is no list', `lock1.${Buffer.from('{}').toString('base64url')}`],
    ['no content', transfer()],
    ['no secret', transfer(null, VALID)],
    ['a secret that is no text', transfer(5, VALID)],
    ['an empty secret', transfer('', VALID)],
    ['no hold', transfer('s')],
    ['a hold that is no list', transfer('s', 'order:42')],
    ['an invalid hold behind a valid one', transfer('s', VALID, ['n'])],
    ['an empty name', transfer('s', VALID.with(0, ''))],
    ['an instance that is no text', transfer('s', VALID.with(1, 5))],
    ['a token that is no integer', transfer('s', VALID.with(2, 1.5))],
    ['a negative minHold', transfer('s', VALID.with(3, -1))],
    ['a fraction of a millisecond', transfer('s', VALID.with(3, 0.5))],
    ['an unknown mode', transfer('s', VALID.with(4, 'both'))],
    ['a name twice', transfer('s', VALID, VALID.with(2, 71))],
    ['no number of permits', transfer('s', VALID.slice(0, 5))],
    ['a part of a permit', transfer('s', VALID.with(4, 'shared').with(5, 1.5))],
    ['more permits than a hold may have', transfer('s', VALID.with(4, 'shared').with(5, 257))],
    ['no lease', transfer('s', VALID.slice(0, 6))],
    ['an empty lease', transfer('s', VALID.with(6, 0))],
    ['several permits of an exclusive hold', transfer('s', VALID.with(5, 2))],
  ])('is refused with %s', (_, value) => {
    expect(() => parseTransfer(value)).toThrow(
      'attach() takes the string that detach() returned, complete and unchanged.',
    );
  });
});
