import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Locked, LockService, LockTimeoutError, RedisLockModule } from '../../../lib/index.js';
import { duringTests } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';
import { CriticalSection } from './support/critical-section.js';
import { expectNothingLeft } from './support/expect-nothing-left.js';

@Injectable()
class Work {
  constructor(private readonly section: CriticalSection) {}

  @Locked('work:<0>')
  async run(_name: string): Promise<number> {
    return this.section.run();
  }

  @Locked('work:<0>', { wait: 0 })
  async attempt(_name: string): Promise<number> {
    return this.section.run();
  }
}

describe('a standalone application', () => {
  const server = duringTests(() => RedisServer.start());

  it('locks the methods of its providers, and rejects with lock errors', async () => {
    @Module({
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      providers: [Work, CriticalSection],
    })
    class AppModule {}
    const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
    const work = app.get(Work);
    expect(await Promise.all([1, 2, 3].map(() => work.run('a')))).toEqual([1, 2, 3]);
    expect(app.get(CriticalSection).most).toBe(1);
    const lock = await app.get(LockService).acquire('work:a');
    await expect(work.attempt('a')).rejects.toThrow(LockTimeoutError);
    await lock.release();
    await app.close();
  });

  it('leaves nothing open when it is started and closed for each of 30 calls', () =>
    expectNothingLeft(server, 30));
});
