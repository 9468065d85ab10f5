import { runInNewContext } from 'node:vm';
import { Redaction } from '../../../lib/store/redis/connection/redaction.js';
import { unreadable } from '../../support/unreadable.js';

describe('A text about a connection', () => {
  const redaction = new Redaction({ username: 'user', password: 'p@ss' }, {}, { password: '' });

  it.each([
    ['AUTH user p@ss', 'AUTH *** ***'],
    ['redis://user:p%40ss@host', 'redis://***:***@host'],
    ['redis://user@host', 'redis://***@host'],
    [
      "NOPERM User user has no permissions to run the 'wait' command",
      "NOPERM User *** has no permissions to run the 'wait' command",
    ],
    [
      "ERR unknown command 'AUTH', with args beginning with: 'user' 'p@ss'",
      "ERR unknown command 'AUTH', with args beginning with: '***' '***'",
    ],
  ])('names neither password nor user: %s', (text, expected) => {
    expect(redaction.text(text)).toBe(expected);
  });

  it.each([
    'WRONGPASS invalid username-password pair or user is disabled.',
    'NOPERM this user has no permissions to run the command',
    'connect ECONNREFUSED user.example.com:6379',
    "ERR unknown option 'username'",
  ])('keeps its own words, although the name of the user is among them: %s', (text) => {
    expect(redaction.text(text)).toBe(text);
  });

  it('keeps the name of the default user, which is not a secret', () => {
    const reply = "NOPERM User default has no permissions to run the 'wait' command";
    expect(new Redaction({ username: 'default', password: 'p@ss' }).text(reply)).toBe(reply);
  });

  it('contains no password anywhere', () => {
    expect(new Redaction({ password: 'user' }).text('username or user')).toBe('***name or ***');
  });

  it('keeps its own words, although a password is a single letter, and shows no quoted password', () => {
    const short = new Redaction({ username: 'user', password: 't' }, { password: '6' });
    const texts = [
      "READONLY You can't write against a read only replica",
      'connect ECONNREFUSED 127.0.0.6:6379',
    ];

    expect(texts.map((text) => short.text(text))).toEqual(texts);
    expect(short.text('AUTH user t')).toBe('AUTH *** ***');
    expect(short.text('AUTH 6')).toBe('AUTH ***');
    expect(short.text('redis://user:t@host')).toBe('redis://***:***@host');
    expect(short.text("beginning with: 'user' 't'")).toBe("beginning with: '***' '***'");
  });

  it('shows no remainder of a password that begins with another password', () => {
    expect(new Redaction({ password: 'abc' }, { password: 'abcdef' }).text('abcdef')).toBe('***');
  });

  it('keeps message and code of errors whose class is that of another context, as of Node in Jest', () => {
    const parts = "[new Error('connect ECONNREFUSED ::1:1'), new Error('connect ECONNREFUSED 127.0.0.1:1')]";
    const error: unknown = runInNewContext(
      `Object.assign(new AggregateError(${parts}), { code: 'ECONNREFUSED' })`,
    );

    expect(redaction.error(error)).toMatchObject({
      message: 'connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1',
      code: 'ECONNREFUSED',
    });
  });

  it.each(['message', 'name', 'code', 'stack'])('is made of an error whose %s cannot be read', (property) => {
    const error = Object.defineProperty(new Error('AUTH p@ss'), property, { get: unreadable });
    const clean = redaction.error(error);

    expect(clean.message).toBe(property === 'message' ? 'a value without text' : 'AUTH ***');
    expect(clean.stack).not.toContain('p@ss');
  });

  it.each([Object.create(null), new Proxy(new Error('AUTH p@ss'), { get: unreadable })])(
    'is made of a value without text',
    (value) => {
      expect(redaction.error(value).message).toBe('a value without text');
    },
  );

  it('hides a user name that contains special characters of patterns', () => {
    const name = 'a+b.c[d]/e';
    expect(new Redaction({ username: name }).text(`User ${name} has no permissions`)).toBe(
      'User *** has no permissions',
    );
    expect(new Redaction({ username: name }).text(`redis://${encodeURIComponent(name)}@h`)).toBe(
      'redis://***@h',
    );
  });

  it('hides the 100 secrets that were known last', () => {
    const latest = new Redaction();
    const passwords = Array.from({ length: 101 }, (_, i) => `secret-${i}.`);
    for (const password of passwords) latest.learn([{ password }]);
    // Known again, and not the oldest any more.
    latest.learn([{ password: 'secret-1.' }]);
    latest.learn([{ password: 'secret-101.' }]);

    const shown = [...passwords, 'secret-101.'].filter((password) => latest.text(password) === password);
    expect(shown).toEqual(['secret-0.', 'secret-2.']);
  });
});
