import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { Controller, Get, Logger } from '@nestjs/common';
import { of, type Observable } from 'rxjs';
import { Locked, RedisLockModule } from '../../lib/index.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { startWorker } from '../support/worker.js';
import { HttpApplication, platforms } from './support/http-application.js';
import type { KeepAliveCalls } from './support/keep-alive.worker.js';

@Controller()
class OrdersController {
  @Get('promise')
  @Locked('z')
  async promise(): Promise<string> {
    return 'done';
  }

  @Get('failing')
  @Locked('z')
  async failing(): Promise<string> {
    throw new Error('done');
  }

  @Get('observable')
  @Locked('z')
  observable(): Observable<string> {
    return of('done');
  }
}

// test/compositions has the other results of handlers and the other transports, with the locks in memory.
describe.each(platforms)('the answer of a locked handler on %s', (_name, adapter) => {
  const server = duringTests(() => RedisServer.start());
  const proxy = duringTests(() => TcpProxy.start(server));
  const app = duringTests(() =>
    HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: proxy.url })],
      controllers: [OrdersController],
    }),
  );

  beforeAll(async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation();
    await (await app.locks.acquire('warm')).release();
    // Longer than an answer takes to its client: a release that is only under way by then has not arrived.
    proxy.delay(50, 'toServer');
  });
  afterAll(() => jest.restoreAllMocks());

  it.each([
    ['/promise', 200],
    ['/failing', 500],
    ['/observable', 200],
  ])('goes out after Redis has confirmed the release: %s', async (path, status) => {
    const response = await app.get(path);
    const text = await response.text();
    const freeByThen = (await server.client().exists('lock:{z}')) === 0;
    expect([response.status, freeByThen]).toEqual([status, true]);
    expect(text).toContain(status === 200 ? 'done' : 'Internal server error');
  });
});

describe('a process that serves locked routes', () => {
  const start = () =>
    startWorker<KeepAliveCalls>(join(__dirname, 'support/keep-alive.worker.ts'), [server.url]);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const server = duringTests(() => RedisServer.start());

  afterAll(() => agent.destroy());

  const statusOf = (port: number): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      get({ agent, host: '127.0.0.1', port, path: '/order' }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      }).on('error', reject);
    });

  it('never blocks the next request of its client to another instance', async () => {
    await using first = await start();
    await using second = await start();
    const ports = [await first.call('listen'), await second.call('listen')];
    const statuses: (number | undefined)[] = [];
    for (let turn = 0; turn < 200; turn++) for (const port of ports) statuses.push(await statusOf(port));
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });

  it('leaves no lock behind when it is killed right after an answer', async () => {
    await using worker = await start();
    expect(await statusOf(await worker.call('listen'))).toBe(200);
    process.kill(worker.pid ?? 0, 'SIGKILL');
    expect(await server.client().exists('lock:{z}')).toBe(0);
  });
});
