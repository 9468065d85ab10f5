import { Module } from '@nestjs/common';
import { Load } from './load.js';
import { ShopService } from './shop.service.js';

@Module({ providers: [Load, ShopService] })
export class WorkModule {}
