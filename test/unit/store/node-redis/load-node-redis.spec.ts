import { createClient, createSentinel } from 'redis';
import type * as subPath from '../../../../lib/node-redis/index.js';

describe('Clients for sentinels over node-redis', () => {
  const template = createSentinel({ name: 'master', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] });
  /** Opens clients twice, in a process that has not loaded node-redis yet. */
  const open = (client: object = template): void => {
    jest.isolateModules(() => {
      const { nodeRedis } = require('../../../../lib/node-redis/index.js') as typeof subPath;
      const connection = nodeRedis(client as subPath.NodeRedisClientLike);
      for (let times = 0; times < 2; times += 1) connection.openClients();
    });
  };
  const removePackage = (name: string): void => {
    jest.doMock(name, () => {
      throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' });
    });
  };

  afterEach(() => {
    jest.dontMock('redis');
    jest.dontMock('@redis/client');
  });

  it('call createClient of redis once, because it takes tens of milliseconds', () => {
    const spied = jest.fn(createClient);
    jest.doMock('redis', () => ({ createClient: spied }));
    open();

    expect(spied).toHaveBeenCalledTimes(1);
  });

  it('are created with @redis/client if redis is not installed', () => {
    removePackage('redis');

    expect(() => open()).not.toThrow();
  });

  it('name the package to install if both are missing', () => {
    removePackage('redis');
    removePackage('@redis/client');

    expect(() => open()).toThrow('nodeRedis() cannot find node-redis: install redis (npm i redis).');
  });

  it('report other problems of the package', () => {
    jest.doMock('redis', () => {
      throw new SyntaxError('Unexpected token');
    });

    expect(() => open()).toThrow('Unexpected token');
  });

  it('report a version of node-redis whose clients hide their options', () => {
    const client = { getMasterNode: () => undefined, duplicate: () => ({}) };

    expect(() => open(client)).toThrow('This version of node-redis hides the options of its client.');
  });
});
