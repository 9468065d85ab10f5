import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule);
  app.enableShutdownHooks();
  // For a parent process, if there is one: the jobs are scheduled.
  process.send?.('scheduled');
}

void bootstrap();
