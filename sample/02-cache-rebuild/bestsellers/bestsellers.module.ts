import { CacheModule } from '@nestjs/cache-manager';
import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module.js';
import { AlternativesController } from './alternatives.controller.js';
import { BestsellersCache } from './bestsellers.cache.js';
import { BestsellersController } from './bestsellers.controller.js';
import { BestsellersQuery } from './bestsellers.query.js';
import { BestsellersService } from './bestsellers.service.js';
import { LargeListsService } from './large-lists.service.js';
import { redisCache } from './redis-cache.js';

@Module({
  imports: [
    DatabaseModule,
    CacheModule.registerAsync({ useFactory: () => redisCache(process.env.REDIS_URL) }),
  ],
  controllers: [BestsellersController, AlternativesController],
  providers: [BestsellersCache, BestsellersQuery, BestsellersService, LargeListsService],
})
export class BestsellersModule {}
