import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable, Logger, type Type } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { TestingModule } from '@nestjs/testing';
import { lastValueFrom, type Observable } from 'rxjs';
import * as own from '../../lib/index.js';
import { endingAfterEachTest } from '../support/during-tests.js';
import { startModule } from './support/start-module.js';

const LIB = join(__dirname, '../../lib');
const OTHER = join(__dirname, '../../.cache', `second-copy-${process.pid}`);

type Package = typeof own;

function jobsOf({ Locked }: Pick<Package, 'Locked'>): Type<{ run(): Promise<string> }> {
  @Injectable()
  class Jobs {
    @Locked('job')
    async run(): Promise<string> {
      return 'done';
    }
  }
  return Jobs;
}

function reportsOf({ Once }: Pick<Package, 'Once'>): Type {
  @Injectable()
  class Reports {
    @Once('report', { keep: '1h' })
    async build(): Promise<void> {}
  }
  return Reports;
}

describe('two copies of the package in a process', () => {
  let other: Package;
  let warn: jest.SpiedFunction<typeof Logger.warn>;
  const closing = endingAfterEachTest();

  beforeAll(() => {
    mkdirSync(OTHER, { recursive: true });
    cpSync(LIB, OTHER, { recursive: true });
    other = jest.requireActual<Package>(join(OTHER, 'index.ts'));
  });
  beforeEach(() => {
    warn = jest.spyOn(Logger, 'warn').mockReturnValue();
  });
  afterEach(() => warn.mockRestore());
  afterAll(() => rmSync(OTHER, { recursive: true }));

  async function start(jobs: Type, ...packages: Package[]): Promise<TestingModule> {
    const imports = packages.map(({ RedisLockModule }) => RedisLockModule.forRoot({ connection: 'memory' }));
    return closing(await startModule({ imports, providers: [jobs] }));
  }

  const warnings = (): string[] => warn.mock.calls.map(([message]) => String(message));

  it('are named at start, with the method that the module of one copy cannot serve', async () => {
    const jobs = jobsOf(other);
    const app = await start(jobs, own);
    expect(warnings()).toEqual([
      expect.stringMatching(/^Jobs\.run is @Locked by another copy of nest-redis-lock/),
    ]);
    expect(warnings()[0]).toContain(join(LIB, 'nest'));
    expect(warnings()[0]).toContain(join(OTHER, 'nest'));
    await expect(app.get(jobs).run()).rejects.toMatchObject({ code: 'LOCK_CONFIG' });
  });

  it('are named with the decorator of the method', async () => {
    await start(reportsOf(other), own);
    expect(warnings()).toEqual([expect.stringMatching(/^Reports\.build is @Once by another copy of/)]);
  });

  it('get no warning if the application imports the module of each', async () => {
    const jobs = jobsOf(other);
    const app = await start(jobs, own, other);
    expect(warnings()).toEqual([]);
    expect(await app.get(jobs).run()).toBe('done');
  });

  it('get no warning for a method that an agent of one copy wraps', async () => {
    const jobs = jobsOf(own);
    const locked: (this: object) => Promise<string> = jobs.prototype.run;
    const wrapper = function (this: object): Promise<string> {
      return Reflect.apply(locked, this, []);
    };
    for (const key of Reflect.getMetadataKeys(locked) as unknown[])
      Reflect.defineMetadata(key, Reflect.getMetadata(key, locked), wrapper);
    jobs.prototype.run = wrapper;
    await start(jobs, own);
    expect(warnings().filter((warning) => warning.includes('another copy'))).toEqual([]);
  });

  it('reply to a message as to an unknown error if only the other one knows the code', async () => {
    class LaterError extends other.LockError {
      override readonly code = 'LOCK_LATER' as own.LockErrorCode;
    }
    const host = new ExecutionContextHost(['payload', {}]);
    host.setType('rpc');
    const filter = new own.LockExceptionFilter({} as never);
    const reply = filter.catch(new LaterError('secret'), host) as Observable<never>;
    await expect(lastValueFrom(reply)).rejects.toEqual({
      status: 'error',
      code: 'LOCK_LATER',
      message: 'Internal server error',
    });
  });
});
