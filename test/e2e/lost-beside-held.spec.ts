import { Controller, Get, StreamableFile, UseInterceptors } from '@nestjs/common';
import { concatMap } from 'rxjs';
import { Locked, LockService, RedisLockModule } from '../../lib/index.js';
import { waitFor } from '../support/wait-for.js';
import { HttpApplication, platforms } from './support/http-application.js';
import { interceptorOf } from './support/interceptor.js';

/** Loses one of two locks after the handler. */
const LosingInterceptor = interceptorOf(
  (next, locks) =>
    next.handle().pipe(
      concatMap(async (value) => {
        await locks.forceRelease('lost');
        await waitFor(() => locks.holds().length === 1);
        return value;
      }),
    ),
  LockService,
);

@Controller()
@UseInterceptors(LosingInterceptor)
class TwoLocksController {
  @Get('value')
  @Locked('kept')
  @Locked('lost')
  async value(): Promise<string> {
    return 'done';
  }

  @Get('file')
  @Locked('kept')
  @Locked('lost')
  async file(): Promise<StreamableFile> {
    return new StreamableFile(Buffer.from('done'));
  }
}

describe.each(platforms)('A handler under two locks on %s', (_, adapter) => {
  it.each(['value', 'file'])('of which one was lost releases the other one (%s)', async (path) => {
    await using app = await HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: 'memory' })],
      controllers: [TwoLocksController],
      providers: [LosingInterceptor],
    });
    const answer = await app.get(`/${path}`);
    expect(answer.status).toBe(500);
    await waitFor(async () => (await app.locks.query('kept')).held.length === 0);
  });
});
