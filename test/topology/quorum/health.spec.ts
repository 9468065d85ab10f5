import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import { RedisLockModule } from '../../../lib/nest/module/redis-lock.module.js';
import { LockHealthIndicator } from '../../../lib/terminus/index.js';
import { waitFor } from '../../support/wait-for.js';
import { QuorumScene } from './scene.js';

describe('The health of a quorum', () => {
  it('reports the number of answering nodes, is degraded without some of them, and down without a majority', async () => {
    await using scene = await QuorumScene.start();
    @Module({
      imports: [
        TerminusModule,
        RedisLockModule.forRoot({
          connection: scene.urls,
          advanced: { nodeTimeout: 500 },
          outageTimeout: 1_000,
        }),
      ],
      providers: [LockHealthIndicator],
    })
    class AppModule {}
    const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
    try {
      const health = app.get(LockHealthIndicator);
      const look = async (): Promise<unknown> => (await health.isHealthy('locks', { timeout: 5_000 })).locks;

      await waitFor(async () => ((await look()) as { answering: number }).answering === 5);
      expect(await look()).toMatchObject({ status: 'up', nodes: 5, answering: 5, silent: {} });

      await scene.node(0).server.kill();
      scene.node(1).server.freeze();
      const hurt = await look();
      const silent = scene.urls.slice(0, 2).map((url) => new URL(url).host);
      expect(hurt).toMatchObject({ status: 'degraded', nodes: 5, answering: 3 });
      expect(Object.keys((hurt as { silent: object }).silent).toSorted()).toEqual(silent.toSorted());

      await scene.node(2).server.kill();
      expect(await look()).toMatchObject({ status: 'down', nodes: 5, answering: 2 });
    } finally {
      await app.close();
    }
  }, 60_000);
});
