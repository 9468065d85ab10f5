import type { instanceName } from '../../../lib/store/owner-id.js';

describe('The name of an instance', () => {
  afterEach(() => jest.dontMock('node:os'));

  it.each([
    ['with the host name', 'web-3.shop.internal', 'web-3\\.shop\\.internal'],
    ['without characters that have a meaning in keys', 'web~3:a|{b}_ü', 'web-3-a--b---'],
    ['with "host" if the host has no name', '', 'host'],
  ])('begins %s, followed by the process id', (_, hostname, expected) => {
    jest.doMock('node:os', () => ({ ...jest.requireActual<object>('node:os'), hostname: () => hostname }));
    jest.isolateModules(() => {
      const owners = require('../../../lib/store/owner-id.js') as {
        instanceName: typeof instanceName;
      };

      expect(owners.instanceName()).toMatch(new RegExp(`^${expected}-${process.pid}-v1-[0-9a-f]{12}$`));
    });
  });
});
