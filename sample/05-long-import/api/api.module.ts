import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { LockExceptionFilter } from 'nest-redis-lock';
import { ImportsModule } from '../imports/imports.module.js';
import { ImportsController } from './imports.controller.js';
import { ImportsService } from './imports.service.js';

@Module({
  imports: [ImportsModule],
  controllers: [ImportsController],
  // Answers a LockTimeoutError with 423 and Retry-After.
  providers: [ImportsService, { provide: APP_FILTER, useClass: LockExceptionFilter }],
})
export class ApiModule {}
