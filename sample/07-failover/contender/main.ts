import { NestFactory } from '@nestjs/core';
import { getLockServiceToken, type LockService } from 'nest-redis-lock';
import { serveParent } from '../../support/serve-parent.js';
import type { ContenderCalls } from './contender-calls.interface.js';
import { Contender } from './contender.js';
import { ContenderModule } from './contender.module.js';
import { FencedAccount } from './fenced-account.js';
import type { Notices } from './notices.interface.js';
import { Reconnection } from './reconnection.js';

async function open(): Promise<Contender> {
  // The outages are on purpose, and the timeline tells of them.
  const app = await NestFactory.createApplicationContext(ContenderModule, { logger: false });
  app.enableShutdownHooks();
  return new Contender({
    locks: {
      sentinel: app.get<LockService>(getLockServiceToken('sentinel')),
      quorum: app.get<LockService>(getLockServiceToken('quorum')),
    },
    account: app.get(FencedAccount),
    reconnection: app.get(Reconnection),
    notices: {
      granted: (granted) => void parent.granted.asEvent(granted),
      ended: (ended) => void parent.ended.asEvent(ended),
      refused: (refused) => void parent.refused.asEvent(refused),
    },
  });
}

const contender = open();

const parent = serveParent<ContenderCalls, Notices>({
  ready: async () => (await contender).ready(),
  startRush: async () => (await contender).startRush(),
  endRush: async () => (await contender).endRush(),
  cut: async () => (await contender).cut(),
  startWork: async (topology) => (await contender).startWork(topology),
  endWork: async (topology) => (await contender).endWork(topology),
  untilWorkEnds: async (topology) => (await contender).untilWorkEnds(topology),
  tryWithReplica: async () => (await contender).tryWithReplica(),
});
