import { PassingRefusal, StoreRefusal } from '../../../lib/store/store-errors.js';
import { Redaction } from '../../../lib/store/redis/connection/redaction.js';
import { hasCode, storeError } from '../../../lib/store/redis/connection/redis-error.js';

const redaction = new Redaction({ password: 's3cret' });

describe('An error of Redis', () => {
  it.each([
    'READONLY You can’t write against a read only replica.',
    'LOADING Redis is loading the dataset in memory',
    'MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to "no".',
    'NOREPLICAS Not enough good replicas to write.',
    'UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)',
    'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
    'MISCONF Redis is configured to save RDB snapshots, but it’s currently unable to persist to disk.',
    'OOM command not allowed when used memory > ‘maxmemory’.',
    'ERR max number of clients reached',
    'Connection is closed.',
  ])('that is temporary is retried: %s', (message) => {
    expect(storeError(new Error(message), redaction)).not.toBeInstanceOf(StoreRefusal);
  });

  it.each([
    'NOAUTH Authentication required.',
    'WRONGPASS invalid username-password pair or user is disabled.',
    'NOPERM User app has no permissions to run the ‘wait’ command',
    'WRONGTYPE Operation against a key holding the wrong kind of value',
    'ERR unknown command ‘WAIT’',
  ])('that a retry cannot fix is a refusal: %s', (message) => {
    expect(storeError(new Error(message), redaction)).toBeInstanceOf(StoreRefusal);
  });

  it('of a server that speaks another protocol says what to check', () => {
    const error = new Error('Protocol error, got "H" as reply type byte. Please report this.');
    expect(storeError(error, redaction).message).toBe(
      'The server does not speak the protocol of Redis (Protocol error, got "H" as reply type byte). ' +
        'Check the port, and whether it requires TLS.',
    );
  });

  it('that is temporary is distinguished from a failed connection', () => {
    const told = (message: string): Error => storeError(new Error(message), redaction);

    expect(told('OOM command not allowed')).toBeInstanceOf(PassingRefusal);
    for (const message of ['Connection is closed.', 'connect ECONNREFUSED 127.0.0.1:1', 'EPIPE: broken pipe'])
      expect(told(message)).not.toBeInstanceOf(PassingRefusal);
  });

  it.each([
    ['Redis', `script: ${'0f'.repeat(20)}, on @user_script:12.`],
    ['Valkey', 'script: on @user_script:36'],
  ])('in a script of %s omits its place there, which its cause keeps', (_of, place) => {
    const message = `OOM command not allowed. ${place}`;
    const error = storeError(new Error(message), redaction);

    expect(error.message).toBe('OOM command not allowed.');
    expect(error.cause).toMatchObject({ message });
  });

  it('shows no credentials', () => {
    expect(storeError(new Error('WRONGPASS s3cret'), redaction).message).toBe('WRONGPASS ***');
  });

  it.each([
    ['MOVED 3999 127.0.0.1:6381', /^MOVED .*: for a Redis Cluster, pass .* advanced\.layout: "per-name"$/],
    ['CROSSSLOT Keys in request', /^CROSSSLOT .*: for a Redis Cluster, pass/],
    ['NOPERM No permissions to access a key', /^NOPERM .*: allow the user all keys .* as ~lock:\* does$/],
    ['NOPERM User x has no permissions to run', /run$/],
  ])('says what to change: %s', (message, expected) => {
    expect(storeError(new Error(message), redaction).message).toMatch(expected);
  });

  it('has its code at its beginning', () => {
    expect(hasCode(new Error('READONLY You can’t write'), 'READONLY')).toBe(true);
    expect(hasCode(new Error('LOADING Redis is loading'), 'READONLY')).toBe(false);
    expect(hasCode('READONLY You can’t write', 'READONLY')).toBe(false);
  });
});
