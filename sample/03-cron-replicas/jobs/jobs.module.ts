import { Module } from '@nestjs/common';
import { DatabaseModule } from '../../support/database/database.module.js';
import { ReportJobs } from './report.jobs.js';
import { ReportService } from './report.service.js';

@Module({
  imports: [DatabaseModule],
  providers: [ReportJobs, ReportService],
})
export class JobsModule {}
