import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import { RedisLockModule } from '../../../lib/nest/module/redis-lock.module.js';
import { LockHealthIndicator } from '../../../lib/terminus/index.js';
import { steadily } from '../../support/steadily.js';
import { waitFor } from '../../support/wait-for.js';
import { ALL, QuorumScene } from './scene.js';

describe('The health of a quorum', () => {
  it('reports the number of answering nodes, is degraded without some of them, and down without a majority', async () => {
    await using scene = await QuorumScene.start();
    @Module({
      imports: [
        TerminusModule,
        RedisLockModule.forRoot({
          connection: scene.urls,
          advanced: { nodeTimeout: 2_000 },
          outageTimeout: 4_000,
        }),
      ],
      providers: [LockHealthIndicator],
    })
    class AppModule {}
    const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
    try {
      const health = app.get(LockHealthIndicator);
      const look = async (): Promise<{ answering: number; silent: object }> =>
        (await health.isHealthy('locks', { timeout: 10_000 })).locks as never;
      const expectHealth = async (status: string, answering: readonly number[]): Promise<void> => {
        const others = ALL.filter((node) => !answering.includes(node));
        const silent = others.map((node) => `127.0.0.1:${scene.node(node).proxy.port}`);
        const compare = async (): Promise<void> => {
          const seen = await look();
          expect(seen).toMatchObject({ status, nodes: 5, answering: answering.length });
          expect(Object.keys(seen.silent).toSorted()).toEqual(silent.toSorted());
        };
        await steadily(50, compare, () => scene.ping(answering));
      };

      await waitFor(async () => (await look()).answering === 5);
      await expectHealth('up', ALL);

      await scene.node(0).server.kill();
      scene.node(1).server.freeze();
      await expectHealth('degraded', [2, 3, 4]);

      await scene.node(2).server.kill();
      await expectHealth('down', [3, 4]);
    } finally {
      await app.close();
    }
  }, 60_000);
});
