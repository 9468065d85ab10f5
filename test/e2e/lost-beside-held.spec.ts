import { Controller, Get, Injectable, StreamableFile, UseInterceptors } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { concatMap, type Observable } from 'rxjs';
import { Locked, LockService, RedisLockModule } from '../../lib/index.js';
import { waitFor } from '../support/wait-for.js';
import { HttpApplication, platforms } from './support/http-application.js';

/** Loses one of two locks after the handler. */
@Injectable()
class LosingInterceptor implements NestInterceptor {
  constructor(private readonly locks: LockService) {}

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      concatMap(async (value: unknown) => {
        await this.locks.forceRelease('lost');
        await waitFor(() => this.locks.holds().length === 1);
        return value;
      }),
    );
  }
}

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
