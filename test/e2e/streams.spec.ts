import { Controller, Get, Param, Sse, type MessageEvent } from '@nestjs/common';
import { of, type Observable } from 'rxjs';
import { Locked, RedisLockModule } from '../../lib/index.js';
import { duringTests } from '../support/during-tests.js';
import { HttpApplication, platforms } from './support/http-application.js';

@Controller()
class StreamController {
  @Get('one/:name')
  @Locked('stream:<0>', { wait: 0 })
  one(@Param('name') name: string): Observable<string> {
    return of(name);
  }

  /** A handler that gives its stream at once is answered with the headers of a stream at once: Nest does not wait. */
  @Sse('later/:name')
  @Locked('stream:<0>', { wait: 0 })
  async later(@Param('name') name: string): Promise<Observable<MessageEvent>> {
    return of({ data: name });
  }

  @Get('unanswered/:name')
  @Locked('stream:<0>', { wait: 0, onTimeout: 'skip' })
  unanswered(@Param('name') name: string): Observable<string | undefined> {
    return of(name);
  }

  @Get('skipped/:name')
  @Locked('stream:<0>', { wait: 0, onTimeout: (_error: Error, name: string) => `${name} is taken` })
  skipped(@Param('name') name: string): Observable<string> {
    return of(name);
  }
}

// In test/compositions, the lock is held until the end of streams of all transports, or until their clients leave.
describe.each(platforms)('a locked handler on %s that would stream under a taken lock', (_name, adapter) => {
  const app = duringTests(() =>
    HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: 'memory' })],
      controllers: [StreamController],
    }),
  );

  it.each([
    ['423', '/one/a', 423, expect.stringContaining('in use')],
    ['423 instead of events', '/later/a', 423, expect.stringContaining('in use')],
    ["an empty stream with onTimeout: 'skip'", '/unanswered/a', 200, ''],
    ['the result of onTimeout', '/skipped/a', 200, 'a is taken'],
  ])('answers with %s', async (_what, path, status, body: unknown) => {
    await using _ = await app.locks.acquire('stream:a');
    const response = await app.get(path);
    expect([response.status, await response.text()]).toEqual([status, body]);
  });
});
