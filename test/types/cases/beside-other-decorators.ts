import {
  applyDecorators,
  Body,
  Controller,
  Get,
  Param,
  ParseIntPipe,
  Post,
  SetMetadata,
} from '@nestjs/common';
import { CurrentLock, Locked, type Lock } from 'nest-redis-lock';
import type { PlaceOrder } from './place-order.js';

const Place = (): MethodDecorator => applyDecorators(Post('place'), Locked('order:<0>'));

@Controller('orders')
export class OrdersController {
  @Get(':id')
  @Locked('order:<0>')
  async below(@Param('id', ParseIntPipe) id: number) {}

  @Locked('order:<0>')
  @SetMetadata('role', 'clerk')
  @Get(':id/above')
  async above(@Param('id', ParseIntPipe) id: number) {}

  @Post()
  @Locked('order:<0.sku>', { wait: 0 })
  async place(@Body() order: PlaceOrder, @CurrentLock() lock?: Lock) {}

  @Place()
  async composed(id: string) {}

  @Post('typo')
  @Locked('order:<0.skuu>') // error: <0.skuu> is not a path of the method's parameters
  async typo(@Body() order: PlaceOrder) {}

  @Post('sync')
  @Locked('order:<0.sku>') // error: a locked method must return a Promise or an Observable
  sync(@Body() order: PlaceOrder) {}
}
