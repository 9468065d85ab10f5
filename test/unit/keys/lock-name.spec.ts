import { LockKeyError } from '../../../lib/errors/lock.error.js';
import { assertLockName } from '../../../lib/keys/lock-name.js';

describe('assertLockName', () => {
  it.each([
    'a',
    'order:42',
    '{tag}:1',
    'a}b',
    'with space',
    'Größe/日本/😀',
    '\u{a0}',
    'x'.repeat(512),
    'é'.repeat(256),
    '😀'.repeat(128),
  ])('accepts %j', (name) => {
    expect(() => assertLockName(name)).not.toThrow();
  });

  it.each([
    ['the empty string', '', 'is empty'],
    ['a newline', 'a\nb', 'control character'],
    ['NUL', 'a\0', 'control character'],
    ['DEL', 'a\u007f', 'control character'],
    ['a C1 control', 'a\u0085', 'control character'],
    ['a leading "}"', '}a', 'starts with "}"'],
    ['a lone high surrogate', 'a\ud83d', 'lone surrogate'],
    ['a lone low surrogate', '\ude00a', 'lone surrogate'],
    ['513 ASCII characters', 'x'.repeat(513), '513 bytes'],
    ['512 bytes and one more in few characters', 'é'.repeat(256) + 'x', '513 bytes'],
    ['three-byte characters beyond the limit', '語'.repeat(171), '513 bytes'],
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a number', 7, 'is not a string but a number'],
    ['an object', {}, 'is not a string but an object'],
  ])('rejects %s, and says what is allowed', (_, name, problem) => {
    const check = (): void => assertLockName(name);
    expect(check).toThrow(LockKeyError);
    expect(check).toThrow(problem);
    expect(check).toThrow('1 to 512 bytes of UTF-8 without control characters');
  });

  it('does not repeat the name, which may be personal', () => {
    expect(() => assertLockName('ann@example.org\n')).not.toThrow('example.org');
    expect(() => assertLockName('ann@example.org\n')).toThrow(LockKeyError);
  });
});
