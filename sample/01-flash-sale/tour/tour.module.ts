import { Module } from '@nestjs/common';
import { DatabaseModule } from '../../support/database/database.module.js';
import { PageModule } from '../page/page.module.js';
import { FencingStage } from './fencing.stage.js';
import { ReportPages } from './report/report-pages.js';
import { TakeoverStage } from './takeover.stage.js';
import { TourController } from './tour.controller.js';

@Module({
  imports: [DatabaseModule, PageModule],
  controllers: [TourController],
  providers: [FencingStage, ReportPages, TakeoverStage],
})
export class TourModule {}
