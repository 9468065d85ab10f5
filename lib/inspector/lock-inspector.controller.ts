import {
  BadRequestException,
  ConflictException,
  Delete,
  ForbiddenException,
  Get,
  Headers,
  HttpStatus,
  Inject,
  Logger,
  Param,
  Query,
  Res,
  StreamableFile,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { ServerResponse } from 'node:http';
import { LOG_CONTEXT } from '../diagnostics/lock-log.js';
import { LockActivity } from './lock-activity.js';
import { LockInspector } from './lock-inspection.js';
import { CONTENT_SECURITY_POLICY, PAGE } from './page/inspector-page.js';

const DEFAULT_LIMIT = 1_000;
const MOST_NAMES = 10_000;

/** The routes of an inspector without actions. */
export class LockInspectorController {
  constructor(
    @Inject(LockInspector) protected readonly inspector: LockInspector,
    @Inject(LockActivity) private readonly activity: LockActivity,
    @Inject(HttpAdapterHost) private readonly adapterHost: HttpAdapterHost,
  ) {}

  /** Replies with the page to requests that accept HTML, such as those of a browser, and with JSON to others. */
  @Get()
  async inspect(
    @Headers('accept') accept: unknown,
    @Query() query: Readonly<Record<string, unknown>>,
    @Res() response: unknown,
  ): Promise<void> {
    const { name, prefix, limit } = query;
    if (name !== undefined) return this.query(textOf('name', name), response);
    const page = new StreamableFile(Buffer.from(PAGE), { type: 'text/html; charset=utf-8' });
    if (typeof accept === 'string' && accept.includes('text/html')) return this.reply(response, page);
    const listing = { prefix: textOf('prefix', prefix ?? ''), limit: limitOf(limit) };
    return this.reply(response, this.inspector.inspect(listing));
  }

  /** Replies with a stream of this process's events from now on. */
  @Get('events')
  async watch(@Res() response: unknown): Promise<void> {
    const stream = this.activity.watch();
    onceClosed(response as PlatformResponse, () => stream.destroy());
    // No request can follow on this connection, and keep-alive would delay the shutdown of the application.
    this.adapterHost.httpAdapter.setHeader(response, 'Connection', 'close');
    return this.reply(response, new StreamableFile(stream, { type: 'text/event-stream' }));
  }

  /** For other names, `?name=` above: `events`, `..`, and names that are too long for the platform's paths. */
  @Get(':name')
  async query(@Param('name') name: string, @Res() response: unknown): Promise<void> {
    return this.reply(response, this.inspector.locks.query(name));
  }

  /** Writes the reply directly: an interceptor that wraps the results of routes would turn the page into JSON. */
  protected async reply(response: unknown, body: object | Promise<object>): Promise<void> {
    setHeaders(this.adapterHost, response as PlatformResponse);
    this.adapterHost.httpAdapter.reply(response, await body, HttpStatus.OK);
  }
}

/** The routes of an inspector with `actions: true`. */
export class ActingLockInspectorController extends LockInspectorController {
  private readonly logger = new Logger(LOG_CONTEXT);

  /**
   * Releases forcibly: the holds of the given owner ids, or every hold.
   *
   * Forms cannot send the header, and other sites cannot send it without permission. A logged-in user who visits
   * another site therefore releases nothing.
   */
  @Delete([':name', ''])
  async release(
    @Param('name') path: string | undefined,
    @Query('name') query: unknown,
    @Query('owner') owner: unknown,
    @Headers('x-lock-inspector') header: unknown,
    @Headers('sec-fetch-site') site: unknown,
    @Res() response: unknown,
  ): Promise<void> {
    if (header === undefined) throw new ForbiddenException('The header X-Lock-Inspector is missing.');
    if (site !== undefined && site !== 'same-origin' && site !== 'none')
      throw new ForbiddenException('Another site cannot release locks.');
    const name = textOf('name', path ?? query);
    const owners = owner === undefined ? undefined : [owner].flat().map((each) => textOf('owner', each));
    const { released, holders } = await this.inspector.locks.forceRelease(name, { owners });
    if (owners && released.length === 0)
      throw new ConflictException(
        holders.length > 0 ? `The lock is now held by ${holders.join(', ')}.` : 'The lock is now free.',
      );
    const ended = JSON.stringify(released);
    if (released.length > 0)
      this.logger.warn(`${name} was released forcibly, held by ${ended}, through the inspector.`);
    return this.reply(response, { released: released.length > 0, holders });
  }
}

function textOf(parameter: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw new BadRequestException(`${parameter} must be given once.`);
}

function limitOf(value: unknown): number {
  if (value === undefined) return DEFAULT_LIMIT;
  const limit = Number(value);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST_NAMES) return limit;
  throw new BadRequestException(`limit must be a whole number from 1 to ${MOST_NAMES}.`);
}

/** A response of Express, or a reply of Fastify around a response. */
type PlatformResponse = ServerResponse | { readonly raw: ServerResponse };

/** Headers that forbid caches, other sites and frames. */
const HEADERS = {
  'Cache-Control': 'private, no-store, no-transform',
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  Vary: 'Accept',
  'X-Accel-Buffering': 'no',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

function setHeaders({ httpAdapter }: HttpAdapterHost, response: PlatformResponse): void {
  for (const [name, value] of Object.entries(HEADERS)) httpAdapter.setHeader(response, name, value);
}

/**
 * Calls back when the client has disconnected or received its reply; not every version of NestJS notifies a stream of
 * it.
 */
function onceClosed(response: PlatformResponse, listener: () => void): void {
  const raw = 'raw' in response ? response.raw : response;
  if (raw.destroyed) listener();
  else raw.once('close', listener);
}
