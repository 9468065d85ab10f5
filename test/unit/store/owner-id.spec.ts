import { instanceName, isForeign, sharedTag, taggedOwner } from '../../../lib/store/owner-id.js';

const TOKEN = 1_764_207_000_123_456;

describe('The owner of a lock', () => {
  const instance = instanceName();

  it.each([
    ['of a hold', `${instance}:${TOKEN}`],
    ['of a transferred hold', taggedOwner(instance, '0123456789abcdef', TOKEN)],
    ['of a shared hold', taggedOwner(instance, sharedTag({ permits: 3, limit: 5 }), TOKEN)],
    ['of several names', taggedOwner(instance, 'mz1', TOKEN)],
    ['of shared holds in the key of the lock', 'shared'],
  ])('is an instance of this module: %s', (_, owner) => {
    expect(isForeign(owner)).toBe(false);
  });

  it.each([
    ['a uuid', '7d1c3c1c-9f4b-4a63-8e3a-0d7f4f4ad4f2'],
    ['<host>:<pid>', 'web-3:4711'],
    ['<uuid>:<number>', '7d1c3c1c-9f4b-4a63-8e3a-0d7f4f4ad4f2:1'],
    ['a process and a time', 'web-3-4711:1764207000123456'],
    ['an instance of another format', `${instance.replace('-v1-', '-v2-')}:${TOKEN}`],
    ['nothing', ''],
    ['several lines', `x\n${instance}:1`],
    ['an owner id with more', `${instance}:1 of 2`],
    ['JSON', '{"pid":4711}'],
  ])('is a client of another package: %s', (_, owner) => {
    expect(isForeign(owner)).toBe(true);
  });
});
