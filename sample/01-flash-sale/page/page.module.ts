import { Module } from '@nestjs/common';
import { DatabaseModule } from '../../support/database/database.module.js';
import { InstancesModule } from '../instances/instances.module.js';
import { IdleConnections } from './idle-connections.js';
import { LockWatch } from './lock-watch.js';
import { PageController } from './page.controller.js';
import { Pictures } from './pictures.js';
import { SaleRecords } from './sale-records.js';
import { Streams } from './streams.js';

@Module({
  imports: [DatabaseModule, InstancesModule],
  controllers: [PageController],
  providers: [IdleConnections, LockWatch, Pictures, SaleRecords, Streams],
  exports: [LockWatch, Streams],
})
export class PageModule {}
