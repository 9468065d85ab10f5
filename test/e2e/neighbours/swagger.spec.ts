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
import { Locked } from '../../../lib/index.js';
import { LockTestingModule } from '../../../lib/testing/index.js';

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
