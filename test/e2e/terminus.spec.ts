import { Controller, Get } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule, type HealthCheckResult } from '@nestjs/terminus';
import { LockService, RedisLockModule } from '../../lib/index.js';
import { LockHealthIndicator } from '../../lib/terminus/index.js';
import { duringEachTest } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { RequestLog } from '../support/request-log.js';
import { HttpApplication, platforms } from './support/http-application.js';

const PASSWORD = 'pa55word-of-the-locks';
/** Of a check that finds Redis as it should be, however busy the machine is. */
const PATIENT = 10_000;
/** Of a check that finds no answer. */
const HASTY = 300;
/** What a check may take beyond its bound on a machine that is busy with other things. */
const SLACK = 3_000;

interface Health {
  readonly status: number;
  readonly body: HealthCheckResult;
  readonly took: number;
}

describe.each(platforms)('The health of locks on %s', (_name, adapter) => {
  afterEach(() => server.thaw());
  const server = duringEachTest(() => RedisServer.start({ password: PASSWORD }));
  const reports = duringEachTest(() => RedisServer.start());

  @Controller('health')
  class HealthController {
    constructor(
      private readonly health: HealthCheckService,
      private readonly locks: LockHealthIndicator,
    ) {}

    @Get()
    @HealthCheck()
    check(): Promise<HealthCheckResult> {
      return this.health.check([() => this.locks.isHealthy('locks', { timeout: PATIENT })]);
    }

    @Get('reports')
    @HealthCheck()
    checkReports(): Promise<HealthCheckResult> {
      return this.health.check([
        () => this.locks.isHealthy('reports', { timeout: HASTY, module: 'reports' }),
      ]);
    }

    @Get('hasty')
    @HealthCheck()
    checkHastily(): Promise<HealthCheckResult> {
      return this.health.check([() => this.locks.isHealthy('locks', { timeout: HASTY })]);
    }
  }

  const app = duringEachTest(() =>
    HttpApplication.start(adapter(), {
      imports: [
        TerminusModule.forRoot({ logger: false }),
        RedisLockModule.forRoot({ connection: server.url }),
        RedisLockModule.forRoot({ name: 'reports', connection: reports.url }),
      ],
      controllers: [HealthController],
      providers: [LockHealthIndicator],
    }),
  );

  async function healthAt(path = ''): Promise<Health> {
    const begin = performance.now();
    const response = await app.get(`/health${path}`);
    const body = (await response.json()) as HealthCheckResult;
    return { status: response.status, body, took: performance.now() - begin };
  }

  it('is up while Redis grants and releases', async () => {
    const { status, body } = await healthAt();

    expect(status).toBe(200);
    expect(body.details['locks']).toEqual({ status: 'up', responseTime: expect.any(Number) });
  });

  it('leaves no key, and sends two requests for one check', async () => {
    await healthAt();
    const log = await RequestLog.open(server);

    await healthAt();

    expect(await log.counts()).toEqual({ evalsha: 2 });
    log.close();
    expect(await server.client().keys('*')).toEqual(['lock:fence']);
  });

  it('is down with the reason, but no credentials, while Redis is gone', async () => {
    await healthAt();
    await server.kill();

    const { status, body, took } = await healthAt('/hasty');

    expect(status).toBe(503);
    expect(body.details['locks']).toMatchObject({
      status: 'down',
      message: expect.stringContaining('Redis'),
    });
    expect(JSON.stringify(body)).not.toContain(PASSWORD);
    expect(took).toBeLessThan(HASTY + SLACK);
  });

  it('is reported for each module separately', async () => {
    await reports.kill();

    expect((await healthAt('/reports')).status).toBe(503);
    expect((await healthAt()).status).toBe(200);
  });

  it('is down once shutdown has begun', async () => {
    app.nest.get(LockService).beginShutdown();

    const { status, body } = await healthAt();

    expect(status).toBe(503);
    expect(body.details['locks']?.['message']).toContain('shutting down');
  });
});
