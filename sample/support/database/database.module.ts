import { Module } from '@nestjs/common';
import { Database } from './database.js';

@Module({
  providers: [{ provide: Database, useFactory: () => new Database(process.env.DATABASE_URL) }],
  exports: [Database],
})
export class DatabaseModule {}
