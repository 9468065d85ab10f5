import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Controller, Get, Logger, Res, StreamableFile } from '@nestjs/common';
import { Locked, RedisLockModule } from '../../lib/index.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { HttpApplication, platforms } from './support/http-application.js';

/** That of Express, or what Fastify has in front of it. */
type AnyResponse = ServerResponse & { readonly raw?: ServerResponse; hijack?(): void };

function rawOf(response: AnyResponse): ServerResponse {
  response.hijack?.();
  return response.raw ?? response;
}

/** The body of the answer, as far as the test has written it. */
class Body {
  stream = new PassThrough();
}

@Controller()
class FilesController {
  constructor(private readonly body: Body) {}

  @Get('file')
  @Locked('file')
  async file(): Promise<StreamableFile> {
    return new StreamableFile(this.body.stream);
  }

  @Get('unlocked')
  async unlocked(): Promise<StreamableFile> {
    return new StreamableFile(this.body.stream);
  }

  @Get('readable')
  @Locked('file')
  async readable(): Promise<Readable> {
    return this.body.stream;
  }

  @Get('response')
  @Locked('file')
  async response(): Promise<Response> {
    return new Response(Readable.toWeb(this.body.stream) as ReadableStream);
  }

  @Get('whole')
  @Locked('file')
  async whole(): Promise<StreamableFile> {
    return new StreamableFile(Buffer.from('whole'));
  }

  @Get('piped')
  @Locked('file')
  async piped(@Res() response: AnyResponse): Promise<void> {
    this.body.stream.pipe(rawOf(response));
  }

  @Get('awaited')
  @Locked('file')
  async awaited(@Res() response: AnyResponse): Promise<void> {
    await pipeline(this.body.stream, rawOf(response));
  }
}

describe.each(platforms)('a locked handler that answers with a stream on %s', (_name, adapter) => {
  const server = duringTests(() => RedisServer.start());
  const app = duringTests(() =>
    HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      controllers: [FilesController],
      providers: [Body],
    }),
  );
  let body: Body;
  let logged: jest.SpiedFunction<Logger['error']>;

  beforeEach(() => {
    logged = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    body = app.nest.get(Body);
    body.stream = new PassThrough();
  });
  afterEach(() => logged.mockRestore());

  const isFree = async (): Promise<boolean> => {
    const lock = await app.locks.tryAcquire('file');
    await lock?.release();
    return lock !== undefined;
  };

  describe.each(['/file', '/readable', '/response', '/awaited'])('(%s)', (path) => {
    it('holds its lock until the body is sent', async () => {
      body.stream.write('one,');
      const response = await app.get(path);
      expect(await isFree()).toBe(false);
      body.stream.end('two');
      expect(await response.text()).toBe('one,two');
      await waitFor(isFree, { that: 'the lock to be free after the last byte' });
    });

    it('holds its lock until the client has gone', async () => {
      const client = new AbortController();
      body.stream.write('one,');
      const response = await app.get(path, { signal: client.signal });
      expect(await isFree()).toBe(false);
      client.abort();
      await expect(response.text()).rejects.toThrow('abort');
      await waitFor(isFree, { that: 'the lock to be free after the client has gone' });
    });

    it('holds its lock until the body fails', async () => {
      body.stream.write('one,');
      const response = await app.get(path);
      expect(await isFree()).toBe(false);
      body.stream.destroy(new Error('disk'));
      await response.text().catch(() => undefined);
      await waitFor(isFree, { that: 'the lock to be free after the failure' });
    });
  });

  it('listens to its response once, and not at all without a lock', async () => {
    const httpServer: Server = app.nest.getHttpServer();
    const listeners = async (path: string): Promise<number> => {
      body.stream = new PassThrough();
      body.stream.write('one,');
      const seen = once(httpServer, 'request');
      const response = await app.get(path);
      const [, outgoing] = (await seen) as [unknown, ServerResponse];
      const count = outgoing.listenerCount('close');
      body.stream.end();
      await response.text();
      return count;
    };
    expect((await listeners('/file')) - (await listeners('/unlocked'))).toBe(1);
  });

  it('releases after a file that is sent at once', async () => {
    expect(await (await app.get('/whole')).text()).toBe('whole');
    await waitFor(isFree);
  });

  it('releases when its Promise settles if it pipes into @Res() without awaiting the end', async () => {
    body.stream.write('one,');
    const response = await app.get('/piped');
    await waitFor(isFree, { that: 'the lock to be free while the body is sent' });
    body.stream.end('two');
    expect(await response.text()).toBe('one,two');
  });
});
