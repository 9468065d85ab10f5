import { ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ApiModule } from './api.module.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create(ApiModule);
  app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true }));
  app.enableShutdownHooks();
  await app.listen(process.env.PORT ?? 3000, '127.0.0.1');
  // For a parent process, if there is one: where the API serves.
  process.send?.(await app.getUrl());
}

void bootstrap();
