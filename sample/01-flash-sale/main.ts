import { ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { InstanceDirectory } from './instances/instance-directory.js';
import { servePage } from './page/serve-page.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule);
  app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true }));
  servePage(app);
  app.enableShutdownHooks();
  await app.listen(process.env.PORT ?? 3000, '127.0.0.1');
  const url = await app.getUrl();
  await app.get(InstanceDirectory).register(url);
  // For a parent process, if there is one: where this instance serves.
  process.send?.(url);
}

void bootstrap();
