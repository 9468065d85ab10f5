import { versionError } from '../../../lib/store/redis/trial/findings.js';

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
