import { startMetrics } from './metrics/prometheus.js';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

async function bootstrap(): Promise<void> {
  startMetrics();
  const app = await NestFactory.create(AppModule, { logger: ['error'] });
  app.enableShutdownHooks();
  await app.listen(process.env.PORT ?? 3000, '127.0.0.1');
  // For a parent process, if there is one: where this instance serves.
  process.send?.(await app.getUrl());
}

void bootstrap();
