import { resolveModuleOptions } from '../../../lib/options/module-options.js';
import type * as flags from '../../../lib/cli/connection-flags.js';
import type * as factory from '../../../lib/nest/module/lock-module.definition.js';

describe('An application without ioredis', () => {
  afterEach(() => jest.dontMock('ioredis'));

  it('gets the error of the loader as the cause', () => {
    const missing = Object.assign(new Error("Cannot find module 'ioredis'"), { code: 'MODULE_NOT_FOUND' });
    jest.doMock('ioredis', () => {
      throw missing;
    });
    jest.isolateModules(() => {
      const { createLockService } =
        require('../../../lib/nest/module/lock-module.definition.js') as typeof factory;

      expect(() => createLockService(resolveModuleOptions({}))).toThrow(
        expect.objectContaining({ cause: missing }),
      );
    });
  });

  it('names the client to install, when the first one is needed', () => {
    jest.doMock('ioredis', () => {
      throw Object.assign(new Error("Cannot find module 'ioredis'"), { code: 'MODULE_NOT_FOUND' });
    });
    jest.isolateModules(() => {
      const { createLockService } =
        require('../../../lib/nest/module/lock-module.definition.js') as typeof factory;

      expect(() => createLockService(resolveModuleOptions({}))).toThrow(
        'nest-redis-lock has no Redis client: install ioredis (npm i ioredis), or install redis (npm i redis) and pass ' +
          'one of its clients, connection: nodeRedis(createClient()), with nodeRedis of nest-redis-lock/node-redis.',
      );
    });
  });

  it('gets a command that works from the command line', () => {
    jest.doMock('ioredis', () => {
      throw Object.assign(new Error("Cannot find module 'ioredis'"), { code: 'MODULE_NOT_FOUND' });
    });
    jest.isolateModules(() => {
      const { moduleOptions } = require('../../../lib/cli/connection-flags.js') as typeof flags;

      expect(() => moduleOptions({})).toThrow('npx -p ioredis -p nest-redis-lock nest-redis-lock <command>');
    });
  });

  it('reports other problems of ioredis', () => {
    jest.doMock('ioredis', () => {
      throw new SyntaxError('Unexpected token');
    });
    jest.isolateModules(() => {
      const { createLockService } =
        require('../../../lib/nest/module/lock-module.definition.js') as typeof factory;

      expect(() => createLockService(resolveModuleOptions({}))).toThrow('Unexpected token');
    });
  });
});
