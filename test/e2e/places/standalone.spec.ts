import { join } from 'node:path';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Locked, LockService, LockTimeoutError, RedisLockModule } from '../../../lib/index.js';
import { RedisServer } from '../../support/redis-server.js';
import { spawnTypeScript } from '../../support/typescript-process.js';
import { waitFor } from '../../support/wait-for.js';
import { CriticalSection } from './support/critical-section.js';

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
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(async () => {
    await server.stop();
  });

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

  it('leaves nothing open when it is started and closed for each of 30 calls', async () => {
    const script = spawnTypeScript(join(__dirname, 'support/serverless.script.ts'), [server.url, '30']);
    let output = '';
    script.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    script.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    // By itself, so nothing keeps it alive.
    const code = await new Promise((resolve) => script.once('close', resolve));
    const [started, before, after, ...rest] = output.split('\n');
    expect([code, started, ...rest]).toEqual([0, 'started', '']);
    expect(after).toBe(before);
    const client = server.client();
    await waitFor(async () => ((await client.client('LIST')) as string).trim().split('\n').length === 1);
    expect(await client.keys('*work*')).toEqual([]);
    client.disconnect();
  });
});
