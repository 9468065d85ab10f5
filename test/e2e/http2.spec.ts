import { once } from 'node:events';
import {
  connect as connectHttp2,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type Http2Server,
  type ServerHttp2Session,
} from 'node:http2';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import {
  Controller,
  Get,
  Logger,
  StreamableFile,
  UseInterceptors,
  type INestApplication,
} from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { from, switchMap } from 'rxjs';
import { listenToLocks } from '../../lib/diagnostics/index.js';
import { Locked, LockService, RedisLockModule } from '../../lib/index.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { Gate } from './support/gate.js';
import { interceptorOf } from './support/interceptor.js';
import { Journal } from './support/journal.js';

/** Calls the handler late. */
const LateInterceptor = interceptorOf(
  (next, gate) => from(gate.pass()).pipe(switchMap(() => next.handle())),
  Gate,
);

@Controller()
class FilesController {
  constructor(
    private readonly journal: Journal,
    private readonly gate: Gate,
  ) {}

  @Get('file')
  @Locked('file')
  async file(): Promise<StreamableFile> {
    await this.gate.pass();
    return new StreamableFile(new PassThrough().end('whole'));
  }

  @Get('endless')
  @Locked('file')
  async endless(): Promise<StreamableFile> {
    const body = new PassThrough();
    body.write('one,');
    return new StreamableFile(body);
  }

  @Get('short')
  @Locked('file')
  async short(): Promise<string> {
    this.journal.write('ran');
    return 'done';
  }

  @Get('late')
  @UseInterceptors(LateInterceptor)
  @Locked('file')
  async late(): Promise<string> {
    return this.short();
  }
}

describe('a locked handler on HTTP/2', () => {
  const server = duringTests(() => RedisServer.start());
  let app: INestApplication;
  let http: Http2Server;
  let locks: LockService;
  let gate: Gate;
  let lines: string[];
  let waiting = 0;
  let stopListening: () => void;
  let logged: jest.SpiedFunction<Logger['error']>;
  let socket: Socket;
  let session: ServerHttp2Session;
  let client: ClientHttp2Session;

  beforeAll(async () => {
    logged = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    stopListening = listenToLocks({
      'nest-redis-lock:queue:length': ({ length }) => {
        waiting = length;
      },
    });
    const testingModule = await Test.createTestingModule({
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      controllers: [FilesController],
      providers: [Journal, Gate],
    }).compile();
    app = testingModule.createNestApplication(new FastifyAdapter({ http2: true }), { logger: false });
    await app.listen(0, '127.0.0.1');
    http = app.getHttpServer();
    locks = app.get(LockService);
    gate = app.get(Gate);
    ({ lines } = app.get(Journal));
  });
  beforeEach(async () => {
    lines.length = 0;
    const { port } = http.address() as AddressInfo;
    socket = connect(port, '127.0.0.1');
    const accepted = once(http, 'session');
    client = connectHttp2(`http://127.0.0.1:${port}`, { createConnection: () => socket });
    client.on('error', () => undefined);
    [session] = (await accepted) as [ServerHttp2Session];
  });
  afterEach(() => client.destroy());
  afterAll(async () => {
    stopListening();
    await app.close();
    logged.mockRestore();
  });

  const get = (path: string): ClientHttp2Stream =>
    client.request({ ':path': path }).on('error', () => undefined);

  const cancel = async (request: ClientHttp2Stream): Promise<void> => {
    request.close(constants.NGHTTP2_CANCEL);
    await once(request, 'close');
  };

  /** The server's end of the next request. */
  const nextStream = async (): Promise<NodeJS.EventEmitter> => {
    const [, response] = (await once(http, 'request')) as [unknown, { stream: NodeJS.EventEmitter }];
    return response.stream;
  };

  const isFree = async (): Promise<boolean> => (await locks.query('file')).held.length === 0;

  it.each<[string, (request: ClientHttp2Stream) => unknown]>([
    ['cancelled its request', (request) => request.close(constants.NGHTTP2_CANCEL)],
    ['reset its connection', () => socket.resetAndDestroy()],
  ])('releases after it returned a file to a client that had %s', async (_how, leave) => {
    const { arrived } = gate;
    const request = nextStream();
    const reply = get('/file');
    const closed = once(await request, 'close').catch(() => undefined);
    await waitFor(() => gate.arrived > arrived);
    leave(reply);
    await closed;
    expect(await isFree()).toBe(false);
    gate.open();
    await waitFor(isFree, { that: 'the lock to be free after the handler' });
  });

  it('holds its lock until the body is sent, or the request cancelled', async () => {
    const whole = text(get('/file'));
    await waitFor(async () => !(await isFree()));
    gate.open();
    expect(await whole).toBe('whole');
    await waitFor(isFree, { that: 'the lock to be free after the last byte' });

    const endless = get('/endless');
    await once(endless, 'data');
    expect(await isFree()).toBe(false);
    await cancel(endless);
    await waitFor(isFree, { that: 'the lock to be free after the cancel' });
  });

  it('does not run for a request cancelled before an interceptor calls it', async () => {
    const { arrived } = gate;
    const request = nextStream();
    const reply = get('/late');
    const closed = once(await request, 'close');
    await waitFor(() => gate.arrived > arrived);
    await cancel(reply);
    await closed;
    gate.open();
    expect(await text(get('/short'))).toBe('done');
    await waitFor(isFree);
    expect(lines).toEqual(['ran']);
  });

  it('leaves the queue when its request is cancelled before it has waited for long', async () => {
    await using _ = await locks.acquire('file');
    const request = get('/short');
    await waitFor(() => waiting === 1, { interval: 1 });
    await cancel(request);
    await waitFor(() => waiting === 0, { that: 'the cancelled request to leave the queue' });
  });

  it('leaves the queue when its request is cancelled, and other requests of the connection wait on', async () => {
    const holder = await locks.acquire('file');
    const listeners = (): number => session.listenerCount('close') + session.listenerCount('error');
    const before = listeners();
    const served = text(get('/short'));
    await waitFor(() => waiting === 1);
    const cancelled = Array.from({ length: 20 }, () => get('/short'));
    await waitFor(() => waiting === 21);
    await Promise.all(cancelled.map(cancel));
    await waitFor(() => waiting === 1, { that: 'the cancelled requests to leave the queue' });
    expect(listeners()).toBe(before);
    await holder.release();
    expect(await served).toBe('done');
    expect(lines).toEqual(['ran']);
    expect(logged).not.toHaveBeenCalled();
  });
});
