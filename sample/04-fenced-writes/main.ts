import { NestFactory } from '@nestjs/core';
import { listenToLocks } from 'nest-redis-lock/diagnostics';
import { Database } from '../support/database/database.js';
import { serveParent } from '../support/serve-parent.js';
import { CheckedDeposits } from './accounts/checked-deposits.service.js';
import { FencedDeposits } from './accounts/fenced-deposits.service.js';
import { LockedDeposits } from './accounts/locked-deposits.service.js';
import { AppModule } from './app.module.js';
import { bookAs } from './demo/booking.js';
import { freezeAt } from './demo/freeze.js';
import type { DepositCalls, DepositNotices } from './demo/deposit-calls.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
  app.enableShutdownHooks();
  const deposits = {
    locked: app.get(LockedDeposits),
    checked: app.get(CheckedDeposits),
    fenced: app.get(FencedDeposits),
  };
  const { knex } = app.get(Database);
  const parent = serveParent<DepositCalls, DepositNotices>({
    freezeAt: (moment) => freezeAt(knex, moment, () => void parent.frozen.asEvent()),
    book: (guard, deposit) => bookAs(deposits[guard], deposit),
  });
  listenToLocks({
    'nest-redis-lock:acquire:granted': ({ fencingToken }) => void parent.granted.asEvent(fencingToken),
  });
}

void bootstrap();
