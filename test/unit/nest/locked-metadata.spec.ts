import { inspect } from 'node:util';
import { Controller, Get, Module, SetMetadata, UseGuards, type CanActivate } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, MetadataScanner, ModuleRef, Reflector } from '@nestjs/core';
import { Cron, CronExpression, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { ApiOperation, DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import { Locked, LOCKED_METADATA, type LockedMetadata } from '../../../lib/index.js';

class Guard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

@Controller('orders')
class OrdersController {
  @Locked('all')
  @Get('below')
  @UseGuards(Guard)
  @ApiOperation({ summary: 'The summary' })
  @SetMetadata('roles', ['admin'])
  @Cron(CronExpression.EVERY_YEAR, { name: 'below' })
  async below(_first?: string, _second?: string): Promise<void> {}

  @Cron(CronExpression.EVERY_YEAR, { name: 'above' })
  @SetMetadata('roles', ['admin'])
  @ApiOperation({ summary: 'The summary' })
  @UseGuards(Guard)
  @Get('above')
  @Locked('all')
  async above(_first?: string, _second?: string): Promise<void> {}

  @Get('plain')
  @UseGuards(Guard)
  @ApiOperation({ summary: 'The summary' })
  @SetMetadata('roles', ['admin'])
  @Cron(CronExpression.EVERY_YEAR, { name: 'plain' })
  async plain(_first?: string, _second?: string): Promise<void> {}
}

@Module({ imports: [ScheduleModule.forRoot()], controllers: [OrdersController] })
class AppModule {}

describe.each(['below', 'above'] as const)('metadata of decorators %s @Locked', (place) => {
  const { [place]: locked, plain } = OrdersController.prototype;

  it('stays on the method', () => {
    const metadata = (method: object): object =>
      Object.fromEntries(
        Reflect.getMetadataKeys(method)
          .filter((key) => key !== LOCKED_METADATA)
          .map((key) => [key, Reflect.getMetadata(key, method)]),
      );
    const expected = JSON.stringify(metadata(plain)).replaceAll('plain', place);
    expect(JSON.parse(JSON.stringify(metadata(locked)))).toEqual(JSON.parse(expected));
    expect(new Reflector().get('roles', locked)).toEqual(['admin']);
  });

  it('leaves name and length of the method as they are', () => {
    expect(locked.name).toBe(place);
    expect(locked).toHaveLength(plain.length);
  });
});

describe('metadata of @Locked', () => {
  class Jobs {
    @Locked('outer:<0>', { wait: 0 })
    @Locked(['inner', 'all'])
    async twice(_id: string): Promise<void> {}

    async never(): Promise<void> {}
  }
  const of = (method: Function = Jobs): unknown =>
    new Reflector().get<LockedMetadata[] | undefined>(LOCKED_METADATA, method);

  it('has the key and the options of each, the outermost first', () => {
    expect(of(Jobs.prototype.twice)).toEqual([
      { key: 'outer:<0>', options: { wait: 0 } },
      { key: ['inner', 'all'], options: {} },
    ]);
    expect(of(Jobs.prototype.never)).toBeUndefined();
  });

  it('lets DiscoveryService find the locked methods of an application', async () => {
    const testingModule = await Test.createTestingModule({
      imports: [AppModule, DiscoveryModule],
      providers: [Jobs],
    }).compile();
    const wrappers = [
      ...testingModule.get(DiscoveryService).getProviders(),
      ...testingModule.get(DiscoveryService).getControllers(),
    ];
    const found = wrappers.flatMap(({ metatype }) => {
      const prototype = (metatype?.prototype ?? {}) as Record<string, Function>;
      const names = new MetadataScanner().getAllMethodNames(prototype);
      return names.filter((name) => of(prototype[name]) !== undefined);
    });
    expect(found.toSorted()).toEqual(['above', 'below', 'twice']);
  });
});

describe('a class with locked methods', () => {
  it('keeps its routes, jobs and documentation', async () => {
    const testingModule = await Test.createTestingModule({ imports: [AppModule] }).compile();
    const app = testingModule.createNestApplication({ logger: false });
    await app.init();
    const { paths } = SwaggerModule.createDocument(app, new DocumentBuilder().build());
    for (const place of ['below', 'above', 'plain']) {
      expect(app.get(SchedulerRegistry).getCronJob(place)).toBeDefined();
      expect(paths[`/orders/${place}`]?.get?.summary).toBe('The summary');
    }
    await app.close();
  });

  it('shows no property of the lock on its instances', async () => {
    const testingModule = await Test.createTestingModule({ imports: [AppModule] }).compile();
    const controller = await testingModule.get(ModuleRef).create(OrdersController);
    expect(inspect(controller)).toBe('OrdersController {}');
    expect(Reflect.ownKeys(Object.assign({}, controller))).toEqual([]);
    expect(JSON.stringify(controller)).toBe('{}');
  });
});
