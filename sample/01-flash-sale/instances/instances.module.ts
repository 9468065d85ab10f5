import { Module } from '@nestjs/common';
import { DatabaseModule } from '../../support/database/database.module.js';
import { InstanceDirectory } from './instance-directory.js';

@Module({
  imports: [DatabaseModule],
  providers: [InstanceDirectory],
  exports: [InstanceDirectory],
})
export class InstancesModule {}
