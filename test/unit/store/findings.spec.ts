import { findings, versionError } from '../../../lib/store/redis/trial/findings.js';

describe('The version of a server', () => {
  it.each(['7.0.0', '8.6.1', '10.0.0', '', 'unknown'])('%p is accepted', (version) => {
    expect(versionError(version, 'a:6379')).toBeUndefined();
  });

  it.each(['6.2.14', '2.8'])('%p is too old', (version) => {
    expect(versionError(version, 'a:6379')?.message).toBe(
      `The Redis at a:6379 has version ${version}, but locks need 7.0 or newer (or Valkey).`,
    );
  });
});

describe('The reply of a trial', () => {
  const trouble = (writes: string, clock: string, missing: string): string | undefined =>
    findings([1, '8.0.0', writes, clock, missing, ''], (text) => text.replaceAll('secret', '***')).trouble;

  it.each([
    ['nothing', '', '', '', undefined],
    ['a replica', 'READONLY no', '', '', 'it is a replica, which rejects writes (READONLY no)'],
    ['missing rights', '', '', 'del, set', 'the user may not run del, set, or they were renamed'],
    [
      'a replica without a clock',
      'READONLY no',
      'ERR secret',
      '',
      'it is a replica, which rejects writes (READONLY no); scripts cannot read the time (ERR ***)',
    ],
  ])('reports %s, without credentials', (_of, writes, clock, missing, expected) => {
    expect(trouble(writes, clock, missing)).toBe(expected);
  });

  it.each([
    [2, 2],
    ['2', 2],
    ['2 is a wrong channel', '2 is a wrong channel'],
  ])('contains a number of receivers or a rejection: %p', (reply, receivers) => {
    expect(findings([reply, '8.0.0', '', '', '', ''], String).receivers).toBe(receivers);
  });
});
