import { Module } from '@nestjs/common';
import { Database } from '../../support/database/database.js';

/** How many queries of one instance the database takes at once. Further ones wait. */
const CONNECTIONS = 20;

@Module({
  providers: [
    {
      provide: Database,
      useFactory: () => new Database(process.env.DATABASE_URL, { min: 0, max: CONNECTIONS }),
    },
  ],
  exports: [Database],
})
export class DatabaseModule {}
