import { type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LockService, RedisLockModule } from '../../../lib/index.js';

class TracerService {}

const broken = (): never => {
  throw new Error('The tracer is broken.');
};

async function start(useValue: unknown): Promise<INestApplicationContext> {
  @Module({
    imports: [RedisLockModule.forRoot({ connection: 'memory' })],
    providers: [{ provide: TracerService, useValue }],
  })
  class AppModule {}
  return NestFactory.createApplicationContext(AppModule, { logger: false });
}

// The class is found by its name, so it may be another one, or a mock. An error in a listener would end the process.
describe('A class that is called TracerService', () => {
  it.each<[string, unknown]>([
    ['without an instance', null],
    ['of the application', {}],
    ['mocked', { currentTraceId: jest.fn(), createSpan: jest.fn() }],
    ['that returns no Promise', { currentTraceId: () => 'a', createSpan: jest.fn() }],
    ['without a trace', { currentTraceId: broken, createSpan: broken }],
    ['without spans', { currentTraceId: () => 'a', createSpan: broken }],
    [
      'without tags',
      {
        currentTraceId: () => 'a',
        createSpan: (_: string, work: (span: object) => Promise<void>) => work({ addTags: broken }),
      },
    ],
  ])('%s changes nothing about locks', async (_, tracer) => {
    const app = await start(tracer);
    const uncaught = jest.fn();
    process.on('uncaughtException', uncaught);
    try {
      await expect(app.get(LockService).using('order', async () => 'done')).resolves.toBe('done');
      await new Promise((resolve) => setImmediate(resolve));
      expect(uncaught).not.toHaveBeenCalled();
    } finally {
      process.off('uncaughtException', uncaught);
      await app.close();
    }
  });
});
