import { Controller, Get, Param } from '@nestjs/common';
import { CurrentLock, Locked, LockService, RedisLockModule, type Lock } from '../../lib/index.js';
import { duringEachTest, duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { Gate } from './support/gate.js';
import { HttpApplication, platforms } from './support/http-application.js';

@Controller('reports/:id')
class ReportsController {
  readonly reading = new Gate();
  readonly writing = new Gate();
  readonly building = new Gate();

  @Get()
  @Locked('report:<0>', { mode: 'shared' })
  async read(@Param('id') _id: string, @CurrentLock() lock?: Lock): Promise<number | undefined> {
    await this.reading.pass();
    return lock?.fencingToken;
  }

  @Get('write')
  @Locked('report:<0>')
  async write(@Param('id') _id: string, @CurrentLock() lock?: Lock): Promise<number | undefined> {
    await this.writing.pass();
    return lock?.fencingToken;
  }

  @Get('build')
  @Locked('builds', { mode: 'shared', limit: 2, wait: 0 })
  async build(@Param('id') id: string): Promise<string> {
    await this.building.pass();
    return id;
  }
}

async function tokenOf(response: Promise<Response>): Promise<number> {
  return Number(await (await response).text());
}

describe.each(platforms)('modes of locked handlers on %s', (_name, adapter) => {
  const server = duringTests(() => RedisServer.start());
  const apps = [1, 2].map(() =>
    duringEachTest(() =>
      HttpApplication.start(adapter(), {
        imports: [RedisLockModule.forRoot({ connection: server.url })],
        controllers: [ReportsController],
      }),
    ),
  );

  function instance(number: 0 | 1): { app: HttpApplication; reports: ReportsController; locks: LockService } {
    const app = apps[number];
    if (!app) throw new Error('two instances');
    return { app, reports: app.nest.get(ReportsController), locks: app.locks };
  }

  it('admit readers of two instances together, and let a writer and later readers wait', async () => {
    const [one, two] = [instance(0), instance(1)];
    const readers = [one.app.get('/reports/7'), two.app.get('/reports/7')];
    await waitFor(() => one.reports.reading.arrived + two.reports.reading.arrived === 2, {
      that: 'both readers to be inside',
    });
    const writer = one.app.get('/reports/7/write');
    await waitFor(async () => (await one.locks.query('report:7')).pending.length === 1, {
      that: 'the writer to wait',
    });
    const late = two.app.get('/reports/7');
    await waitFor(async () => (await one.locks.query('report:7')).pending.length === 2, {
      that: 'the late reader to wait',
    });
    expect((await one.locks.query('report:7')).held).toMatchObject([{ mode: 'shared' }, { mode: 'shared' }]);
    expect([one.reports.writing.arrived, two.reports.reading.arrived]).toEqual([0, 1]);

    one.reports.reading.open();
    two.reports.reading.open();
    const tokens = await Promise.all(readers.map(tokenOf));
    await waitFor(() => one.reports.writing.arrived === 1, { that: 'the writer to be inside' });
    expect(two.reports.reading.arrived).toBe(1);
    one.reports.writing.open();
    tokens.push(await tokenOf(writer));
    await waitFor(() => two.reports.reading.arrived === 2, { that: 'the late reader to be inside' });
    two.reports.reading.open();
    tokens.push(await tokenOf(late));
    expect(new Set(tokens).size).toBe(4);
    const [readerToken = 0, otherToken = 0, writerToken = 0, lateToken = 0] = tokens;
    expect(writerToken).toBeGreaterThan(Math.max(readerToken, otherToken));
    expect(lateToken).toBeGreaterThan(writerToken);
  });

  it('admit as many requests of all instances as the limit allows, and reply 423 to the next one', async () => {
    const [one, two] = [instance(0), instance(1)];
    const building = [one.app.get('/reports/1/build'), two.app.get('/reports/2/build')];
    await waitFor(() => one.reports.building.arrived + two.reports.building.arrived === 2, {
      that: 'both to be inside',
    });
    for (const { app } of [one, two]) {
      const refused = await app.get('/reports/3/build');
      expect(refused.status).toBe(423);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    one.reports.building.open();
    two.reports.building.open();
    expect((await Promise.all(building)).map(({ status }) => status)).toEqual([200, 200]);

    const again = one.app.get('/reports/3/build');
    await waitFor(() => one.reports.building.arrived === 2, { that: 'a permit to be free again' });
    one.reports.building.open();
    expect((await again).status).toBe(200);
  });
});
