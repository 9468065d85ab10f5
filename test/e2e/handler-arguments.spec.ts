import {
  Body,
  Controller,
  createParamDecorator,
  Get,
  Param,
  ParseIntPipe,
  Post,
  Query,
  StandardSchemaValidationPipe,
  UseGuards,
  ValidationPipe,
  type CanActivate,
} from '@nestjs/common';
import { IsNotEmpty, IsString } from 'class-validator';
import { CurrentLock, Locked, LockService, Once, RedisLockModule, type Lock } from '../../lib/index.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { Gate } from './support/gate.js';
import { HttpApplication, platforms } from './support/http-application.js';

class PlaceOrder {
  @IsString()
  @IsNotEmpty()
  sku = '';
}

/** A Standard Schema, as Zod and others make them, that changes its input. */
const LOWER_CASE = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value: unknown) => ({ value: { sku: (value as { sku: string }).sku.toLowerCase() } }),
  },
} as const;

/** An argument whose properties throw, as those of an entity that was not loaded. */
const Unloaded = createParamDecorator(() => ({
  get sku(): string {
    throw new Error('The entity is not loaded');
  },
}));

class DenyGuard implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

@Controller('orders')
class OrdersController {
  constructor(private readonly gate: Gate) {}

  @Get(':id')
  @Locked('order:<0>')
  async pay(@Param('id', ParseIntPipe) id: number): Promise<{ id: number }> {
    await this.gate.pass();
    return { id };
  }

  @Get(':id/lock')
  @Locked('order:<0>')
  async lock(
    @Param('id', ParseIntPipe) _id: number,
    @CurrentLock() lock: Lock,
    @Query('note') note: string,
  ): Promise<object> {
    return { keys: lock.keys, held: lock.held, token: Number.isSafeInteger(lock.fencingToken), note };
  }

  @Post()
  @Locked('stock:<0.sku>')
  async place(
    @Body(new ValidationPipe({ transform: true })) order: PlaceOrder,
    @CurrentLock() lock: Lock,
  ): Promise<object> {
    return { sku: order.sku, keys: lock.keys };
  }

  @Post('schema')
  @Locked('stock:<0.sku>')
  async placeBySchema(
    @Body({ schema: LOWER_CASE, pipes: [StandardSchemaValidationPipe] }) order: { sku: string },
    @CurrentLock() lock: Lock,
  ): Promise<object> {
    return { sku: order.sku, keys: lock.keys };
  }

  @Post('denied')
  @UseGuards(DenyGuard)
  @Locked('stock:<0.sku>')
  async denied(@Body() _order: PlaceOrder): Promise<void> {}

  @Post('unreadable')
  @Locked('unread:<0.sku>')
  async unreadable(@Unloaded() _order: PlaceOrder): Promise<void> {}

  @Post('unreadable/several')
  @Locked(['read', 'unread:<0.sku>'])
  async unreadableAmongSeveral(@Unloaded() _order: PlaceOrder): Promise<void> {}

  @Post('unreadable/once')
  @Once('once:<0.sku>', { keep: '1h' })
  async unreadableOnce(@Unloaded() _order: PlaceOrder): Promise<void> {}

  @Post('failing')
  @Locked('stock:<0.sku>')
  async failing(@Body() order: PlaceOrder): Promise<void> {
    throw new Error(`No ${order.sku}`);
  }
}

describe.each(platforms)('a locked handler on %s', (_name, adapter) => {
  const server = duringTests(() => RedisServer.start());
  const gate = new Gate();
  const app = duringTests(() =>
    HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      controllers: [OrdersController],
      providers: [{ provide: Gate, useValue: gate }],
    }),
  );
  let acquire: jest.SpiedFunction<LockService['acquire']>;

  beforeEach(() => {
    gate.arrived = 0;
    acquire = jest.spyOn(app.locks, 'acquire').mockClear();
  });

  it('takes its key from the body as a Standard Schema leaves it', async () => {
    const response = await app.post('/orders/schema', { sku: 'BOOK' });
    await expect(response.json()).resolves.toEqual({ sku: 'book', keys: ['stock:book'] });
  });

  it('takes its key from the arguments as the pipes leave them', async () => {
    const first = app.get('/orders/7');
    await waitFor(() => gate.arrived === 1);
    const second = app.get('/orders/007');
    await waitFor(() => acquire.mock.calls.length === 2);
    expect(acquire.mock.calls.map(([keys]) => keys)).toEqual([['order:7'], ['order:7']]);

    const other = app.get('/orders/8');
    await waitFor(() => gate.arrived === 2);
    gate.open();
    expect(await (await first).json()).toEqual({ id: 7 });
    await waitFor(() => gate.arrived === 3);
    gate.open();
    gate.open();
    expect(await (await second).json()).toEqual({ id: 7 });
    expect(await (await other).json()).toEqual({ id: 8 });
  });

  it('gets its lock as a parameter, between parameters of Nest', async () => {
    const response = await app.get('/orders/5/lock?note=hello');
    expect(await response.json()).toEqual({ keys: ['order:5'], held: true, token: true, note: 'hello' });
  });

  it('gets its lock as the last parameter, after one that a pipe validates', async () => {
    const response = await app.post('/orders', { sku: 'tea' });
    expect(await response.json()).toEqual({ sku: 'tea', keys: ['stock:tea'] });
  });

  it.each([
    ['a pipe refuses a parameter', '/orders/seven', undefined, 400],
    ['validation refuses the body', '/orders', { sku: '' }, 400],
    ['a guard refuses the request', '/orders/denied', { sku: 'tea' }, 403],
    ['an argument gives no key', '/orders/failing', { sku: '' }, 400],
    ['an argument cannot be read', '/orders/unreadable', {}, 400],
    ['an argument for one of several keys cannot be read', '/orders/unreadable/several', {}, 400],
    ['an argument for the key of a result cannot be read', '/orders/unreadable/once', {}, 400],
  ])('sends no request to Redis when %s', async (_case, path, body, status) => {
    await server.resetCommandCounts();
    const response = body === undefined ? await app.get(path) : await app.post(path, body);
    expect(response.status).toBe(status);
    expect(acquire).not.toHaveBeenCalled();
    const scripts = Object.keys(await server.commandCounts()).filter((command) => command.startsWith('eval'));
    expect(scripts).toEqual([]);
  });
});
