import { NestFactory } from '@nestjs/core';
import { serveParent } from '../support/serve-parent.js';
import { Contender } from './contender/contender.js';
import { ContenderModule } from './contender/contender.module.js';
import type { ContenderCalls } from './demo/contender-process.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.createApplicationContext(ContenderModule, { logger: ['error', 'warn'] });
  app.enableShutdownHooks();
  const contender = app.get(Contender);
  serveParent<ContenderCalls, object>({
    ready: () => {},
    tryAcquire: (kind, name) => contender.tryAcquire(kind, name),
    tryAcquireWithOneCommand: (kind, name) => contender.tryAcquireWithOneCommand(kind, name),
    believesToHold: (name) => contender.believesToHold(name),
    release: (name) => contender.release(name),
  });
}

void bootstrap();
