import { delimiter } from 'node:path';
import { nextServerProgram } from '../../support/server-program.js';

describe('The program of a server', () => {
  it('is redis-server on PATH where nothing else is named', () => {
    expect(nextServerProgram('data', {})).toBe('redis-server');
    expect(nextServerProgram('sentinel', {})).toBe('redis-server');
  });

  it('is the one that REDIS_SERVER names', () => {
    expect(nextServerProgram('data', { REDIS_SERVER: '/opt/valkey-server' })).toBe('/opt/valkey-server');
  });

  it('changes from server to server where REDIS_SERVER names several', () => {
    const env = { REDIS_SERVER: ['a', 'b', 'c'].join(delimiter) };
    const taken = Array.from({ length: 6 }, () => nextServerProgram('data', env));

    expect(taken.slice(0, 3).toSorted()).toEqual(['a', 'b', 'c']);
    expect(taken.slice(3)).toEqual(taken.slice(0, 3));
  });

  it('is for sentinels the one that REDIS_SENTINEL names, and takes nobody’s turn', () => {
    const env = { REDIS_SERVER: ['a', 'b'].join(delimiter), REDIS_SENTINEL: 'watcher' };
    const first = nextServerProgram('data', env);

    expect(nextServerProgram('sentinel', env)).toBe('watcher');
    expect(nextServerProgram('data', env)).not.toBe(first);
  });
});
