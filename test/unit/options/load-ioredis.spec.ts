import { resolveModuleOptions } from '../../../lib/options/module-options.js';
import type * as flags from '../../../lib/cli/connection-flags.js';
import type * as factory from '../../../lib/nest/module/lock-module.definition.js';

const MISSING = Object.assign(new Error("Cannot find module 'ioredis'"), { code: 'MODULE_NOT_FOUND' });

/** What loads ioredis, in an application whose require of it throws. */
const LOADING = {
  module: () =>
    (require('../../../lib/nest/module/lock-module.definition.js') as typeof factory).createLockService(
      resolveModuleOptions({}),
    ),
  command: () => (require('../../../lib/cli/connection-flags.js') as typeof flags).moduleOptions({}),
};

describe('An application without ioredis', () => {
  afterEach(() => jest.dontMock('ioredis'));

  it.each([
    [
      'gets the error of the loader as the cause',
      'module',
      MISSING,
      expect.objectContaining({ cause: MISSING }),
    ],
    [
      'names the client to install, when the first one is needed',
      'module',
      MISSING,
      'nest-redis-lock has no Redis client: install ioredis (npm i ioredis), or install redis (npm i redis) and pass ' +
        'one of its clients, connection: nodeRedis(createClient()), with nodeRedis of nest-redis-lock/node-redis.',
    ],
    [
      'gets a command that works from the command line',
      'command',
      MISSING,
      'npx -p ioredis -p nest-redis-lock nest-redis-lock <command>',
    ],
    ['reports other problems of ioredis', 'module', new SyntaxError('Unexpected token'), 'Unexpected token'],
  ] as const)('%s', (_promise, loads, thrown, expected) => {
    jest.doMock('ioredis', () => {
      throw thrown;
    });
    jest.isolateModules(() => {
      expect(LOADING[loads]).toThrow(expected as string);
    });
  });
});
