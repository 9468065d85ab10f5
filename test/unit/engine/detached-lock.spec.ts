import { parseDetached } from '../../../lib/engine/hold/detached-lock.js';

const VALID = {
  name: 'order:42',
  instance: 'a1',
  token: 70,
  minHold: 0,
  mode: 'exclusive',
  permits: 1,
  ttl: 30_000,
};
const SHARED = { name: 'n', instance: 'b2', token: 7, minHold: 250, mode: 'shared', permits: 3, ttl: 500 };

/** A string of the form that `detach()` returns. */
const transfer = (...content: readonly unknown[]): string =>
  `lock1.${Buffer.from(JSON.stringify(content)).toString('base64url')}`;

describe('The string of a detached hold', () => {
  it('contains each hold', () => {
    expect(parseDetached(transfer('s', VALID, SHARED))).toEqual({ secret: 's', holds: [VALID, SHARED] });
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
    ['a hold that is no object', transfer('s', 'order:42')],
    ['a hold that is null', transfer('s', null)],
    ['an invalid hold behind a valid one', transfer('s', VALID, { name: 'n' })],
    ['an empty name', transfer('s', { ...VALID, name: '' })],
    ['an instance that is no text', transfer('s', { ...VALID, instance: 5 })],
    ['a token that is no integer', transfer('s', { ...VALID, token: 1.5 })],
    ['a negative minHold', transfer('s', { ...VALID, minHold: -1 })],
    ['a minHold beyond timers', transfer('s', { ...VALID, minHold: 1e15 })],
    ['a fraction of a millisecond', transfer('s', { ...VALID, minHold: 0.5 })],
    ['an unknown mode', transfer('s', { ...VALID, mode: 'both' })],
    ['a name twice', transfer('s', VALID, { ...VALID, token: 71 })],
    ['no number of permits', transfer('s', { ...VALID, permits: undefined })],
    ['a part of a permit', transfer('s', { ...VALID, mode: 'shared', permits: 1.5 })],
    ['more permits than a hold may have', transfer('s', { ...VALID, mode: 'shared', permits: 257 })],
    ['no lease', transfer('s', { ...VALID, ttl: undefined })],
    ['an empty lease', transfer('s', { ...VALID, ttl: 0 })],
    ['several permits of an exclusive hold', transfer('s', { ...VALID, permits: 2 })],
  ])('is refused with %s', (_, value) => {
    expect(() => parseDetached(value)).toThrow(
      'attach() takes the string that detach() returned, complete and unchanged.',
    );
  });
});
