import { Controller, Get, UseInterceptors } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { defer, from, lastValueFrom, of, type Observable } from 'rxjs';
import { CurrentLock, Locked, RedisLockModule, type Lock } from '../../../lib/index.js';
import { Gate } from '../../e2e/support/gate.js';
import { HttpApplication } from '../../e2e/support/http-application.js';
import { interceptorOf } from '../../e2e/support/interceptor.js';
import { Journal } from '../../e2e/support/journal.js';
import { timeOut, TimeoutInterceptor } from '../../e2e/support/timeout.interceptor.js';
import { waitFor } from '../../support/wait-for.js';

/** Awaits the handler, and notes what it gives. */
const AwaitingInterceptor = interceptorOf((next, journal) => {
  const handled = lastValueFrom(next.handle()).catch(({ name }: Error) => name);
  return from(handled.then((value) => journal.write(String(value))));
}, Journal);

@Controller()
class OrdersController {
  constructor(private readonly gate: Gate) {}

  @Get('stream')
  @UseInterceptors(TimeoutInterceptor, AwaitingInterceptor)
  @Locked('order')
  async stream(@CurrentLock() lock?: Lock): Promise<Observable<string>> {
    await this.gate.pass();
    return defer(() => of(lock?.held === true ? 'ran under the lock' : 'ran without the lock'));
  }
}

describe('the stream that the Promise of a handler resolves to', () => {
  it('does not run when the request, and with it the hold, has ended before', async () => {
    const app = await HttpApplication.start(new ExpressAdapter(), {
      imports: [RedisLockModule.forRoot({ connection: 'memory' })],
      controllers: [OrdersController],
      providers: [Gate, Journal],
    });
    const [gate, { lines }] = [app.nest.get(Gate), app.nest.get(Journal)];
    const request = app.get('/stream');
    await waitFor(() => gate.arrived === 1);
    timeOut();
    expect((await request).status).toBe(408);
    gate.open();
    await waitFor(() => lines.length === 1);

    expect(lines).toEqual(['AbortError']);
    await app.stop();
  });
});
