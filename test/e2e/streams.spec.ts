import { Controller, Get, Param, Sse, type MessageEvent } from '@nestjs/common';
import { map, Observable, of, Subject, throwError } from 'rxjs';
import { Locked, LockService, RedisLockModule } from '../../lib/index.js';
import { duringEachTest, duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { HttpApplication, platforms } from './support/http-application.js';

class Ticker {
  readonly ticks = new Subject<string>();
  subscribed = 0;
  readonly events = new Observable<MessageEvent>((subscriber) => {
    this.subscribed += 1;
    subscriber.add(() => (this.subscribed -= 1));
    return this.ticks.pipe(map((text) => ({ data: text }))).subscribe(subscriber);
  });
}

@Controller()
class StreamController {
  constructor(private readonly ticker: Ticker) {}

  @Sse('stream/:name')
  @Locked('stream:<0>')
  stream(@Param('name') _name: string): Observable<MessageEvent> {
    return this.ticker.events;
  }

  @Sse('later/:name')
  @Locked('stream:<0>')
  async later(@Param('name') _name: string): Promise<Observable<MessageEvent>> {
    return this.ticker.events;
  }

  @Get('one/:name')
  @Locked('stream:<0>')
  one(@Param('name') name: string): Observable<string> {
    return of(name);
  }

  @Get('failing/:name')
  @Locked('stream:<0>')
  failing(@Param('name') name: string): Observable<string> {
    return throwError(() => new Error(name));
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

describe.each(platforms)('a locked handler that streams on %s', (_name, adapter) => {
  const server = duringTests(() => RedisServer.start());
  const app = duringEachTest(() =>
    HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      controllers: [StreamController],
      providers: [Ticker],
    }),
  );
  let ticker: Ticker;
  let locks: LockService;
  let acquire: jest.SpiedFunction<LockService['acquire']>;

  beforeEach(() => {
    ticker = app.nest.get(Ticker);
    locks = app.locks;
    acquire = jest.spyOn(locks, 'acquire');
  });

  const isFree = async (): Promise<boolean> => {
    const lock = await locks.tryAcquire('stream:a');
    await lock?.release();
    return lock !== undefined;
  };

  describe.each(['stream', 'later'])('(%s)', (route) => {
    it('holds its lock until the last event', async () => {
      const response = app.get(`/${route}/a`);
      await waitFor(() => ticker.subscribed === 1);
      ticker.ticks.next('one');
      expect(await isFree()).toBe(false);
      ticker.ticks.next('two');
      ticker.ticks.complete();
      expect(await (await response).text()).toMatch(/data: one\n.*data: two\n/s);
      await waitFor(isFree, { that: 'the lock to be free after the last event' });
    });

    it('holds its lock until the client goes away', async () => {
      const client = new AbortController();
      const response = app.get(`/${route}/a`, { signal: client.signal });
      await waitFor(() => ticker.subscribed === 1);
      ticker.ticks.next('one');
      await response;
      expect(await isFree()).toBe(false);
      client.abort();
      await waitFor(() => ticker.subscribed === 0);
      await waitFor(isFree, { that: 'the lock to be free after the client has gone' });
    });

    it('ends the wait of a client that disconnects', async () => {
      const holder = await locks.acquire('stream:a');
      const client = new AbortController();
      const response = app.get(`/${route}/a`, { signal: client.signal });
      await waitFor(() => acquire.mock.calls.length === 2);
      const waiting = acquire.mock.calls[1]?.[1]?.signal;
      expect(waiting?.aborted).toBe(false);
      client.abort();
      await expect(response.then((answer) => answer.text())).rejects.toThrow('abort');
      await waitFor(() => waiting?.aborted);
      await holder.release();
      await waitFor(isFree, { that: 'nothing to be left locked' });
      expect(ticker.subscribed).toBe(0);
    });
  });

  it('answers with the value of a stream that ends', async () => {
    expect(await (await app.get('/one/a')).text()).toBe('a');
    await waitFor(isFree);
  });

  it('releases when the stream fails', async () => {
    expect((await app.get('/failing/a')).status).toBe(500);
    await waitFor(isFree);
  });

  it("replies with an empty stream if the lock is taken, with onTimeout: 'skip'", async () => {
    const holder = await locks.acquire('stream:a');
    const response = await app.get('/unanswered/a');
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
    await holder.release();
  });

  it('answers with the result of onTimeout if the lock is taken', async () => {
    const holder = await locks.acquire('stream:a');
    expect(await (await app.get('/skipped/a')).text()).toBe('a is taken');
    await holder.release();
  });

  it('answers 423 to a stream whose lock is taken', async () => {
    const holder = await locks.acquire('stream:b');
    locks.acquire = (
      (original) => (keys, options) =>
        original(keys, { ...options, wait: 0 })
    )(locks.acquire.bind(locks));
    expect((await app.get('/one/b')).status).toBe(423);
    // A handler that gives its stream at once is answered with the headers of a stream at once: Nest does not wait.
    expect((await app.get('/later/b')).status).toBe(423);
    await holder.release();
  });
});
