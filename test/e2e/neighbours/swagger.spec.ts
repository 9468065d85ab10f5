import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  ParseIntPipe,
  Post,
  Query,
  Sse,
  UseGuards,
  type CanActivate,
  type MessageEvent,
  type Type,
} from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiCreatedResponse,
  ApiHeader,
  ApiOperation,
  ApiProperty,
  ApiQuery,
  DocumentBuilder,
  SwaggerModule,
  type OpenAPIObject,
} from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import { Observable, of } from 'rxjs';
import * as ts from 'typescript';
import * as lib from '../../../lib/index.js';
import { documents } from '../../docs/documents.js';
import { LockTestingModule } from '../../../lib/testing/index.js';

const { Locked } = lib;

class Order {
  @ApiProperty({ description: 'What is ordered' })
  sku!: string;

  @ApiProperty({ type: [Number] })
  pieces!: number[];
}

class Receipt {
  @ApiProperty()
  total!: number;
}

class Guard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

/** The same controller each time, with the decorator above all others, below them, or not at all. */
function controllerWith(place: 'above' | 'below' | 'nowhere'): Type {
  const lock = (key: string): MethodDecorator => Locked(key);
  const Above = (key: string): MethodDecorator => (place === 'above' ? lock(key) : () => {});
  const Below = (key: string): MethodDecorator => (place === 'below' ? lock(key) : () => {});

  @Controller('orders')
  @ApiBearerAuth()
  class OrdersController {
    @Above('order:<0.sku>')
    @Post()
    @ApiOperation({ summary: 'Places an order', description: 'Once per product' })
    @ApiCreatedResponse({ type: Receipt })
    @UseGuards(Guard)
    @Below('order:<0.sku>')
    async place(@Body() _order: Order): Promise<Receipt> {
      return { total: 1 };
    }

    @Above('order:<0>')
    @Get(':id')
    @ApiQuery({ name: 'detail', required: false, enum: ['all', 'none'] })
    @ApiHeader({ name: 'x-tenant' })
    @Below('order:<0>')
    async find(
      @Param('id', ParseIntPipe) _id: number,
      @Query('detail') _detail?: string,
    ): Promise<Receipt[]> {
      return [];
    }

    @Above('order:<0>')
    @Delete(':id')
    @HttpCode(204)
    @ApiOperation({ deprecated: true })
    @Below('order:<0>')
    async cancel(@Param('id') _id: string): Promise<void> {}

    @Above('order:<0>')
    @Sse(':id/events')
    @Below('order:<0>')
    events(@Param('id') _id: string): Observable<MessageEvent> {
      return of({ data: 'placed' });
    }
  }
  return OrdersController;
}

async function documentOf(controller: Type): Promise<OpenAPIObject> {
  const testingModule = await Test.createTestingModule({
    imports: [LockTestingModule.forRoot()],
    controllers: [controller],
  }).compile();
  const app = testingModule.createNestApplication({ logger: false });
  await app.init();
  try {
    return SwaggerModule.createDocument(app, new DocumentBuilder().addBearerAuth().build());
  } finally {
    await app.close();
  }
}

it.each(['above', 'below'] as const)(
  '@nestjs/swagger documents routes with @Locked %s its decorators as those without',
  async (place) => {
    const unlocked = await documentOf(controllerWith('nowhere'));
    expect(unlocked.paths['/orders']?.post?.summary).toBe('Places an order');
    expect(await documentOf(controllerWith(place))).toEqual(unlocked);
  },
);

interface ApiLocksModule {
  ApiLocks(): ClassDecorator;
  addLockStatuses(document: OpenAPIObject): OpenAPIObject;
}

/** The module in the documents, as it stands there. */
function apiLocksModule(): ApiLocksModule {
  const blocks = documents.flatMap(({ document }) => document.blocks);
  const source = blocks.find(({ text }) => text.includes('function ApiLocks()'))?.text ?? '';
  const { outputText } = ts.transpileModule(source, { compilerOptions: { module: ts.ModuleKind.CommonJS } });
  const load = (name: string): unknown => (name === 'nest-redis-lock' ? lib : require(name));
  const exported = {};
  // oxlint-disable-next-line typescript/no-implied-eval -- code that the documents show
  new Function('require', 'exports', outputText)(load, exported);
  return exported as ApiLocksModule;
}

it('@nestjs/swagger documents 423 and 503 of locked routes alone, with the functions of the guide', async () => {
  const { ApiLocks, addLockStatuses } = apiLocksModule();
  @ApiLocks()
  @Controller('orders')
  class OrdersController {
    @Post(':id')
    @Locked('order:<0>')
    async locked(@Param('id') _id: string): Promise<void> {}

    @Get(':id')
    async unlocked(): Promise<void> {}
  }
  const { paths } = addLockStatuses(await documentOf(OrdersController));
  const { get, post } = paths['/orders/{id}'] ?? {};
  expect(Object.keys(post?.responses ?? {})).toEqual(['201', '423', '503']);
  expect(Object.keys(get?.responses ?? {})).toEqual(['200']);
});
