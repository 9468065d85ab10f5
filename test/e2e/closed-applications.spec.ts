import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Locked, LockService } from '../../lib/index.js';
import { LockTestingModule } from '../../lib/testing/index.js';
import { waitFor } from '../support/wait-for.js';

@Injectable()
class Jobs {
  @Locked('job')
  async run(): Promise<string> {
    return 'done';
  }
}

async function startApplication(): Promise<{ close(): Promise<void> }> {
  const app = await Test.createTestingModule({
    imports: [LockTestingModule.forRoot()],
    providers: [Jobs],
  }).compile();
  await app.init();
  await app.get(Jobs).run();
  await app.get(LockService).using('more', () => undefined);
  return app;
}

/** What Node adds to each new Promise. Before Node 24, each AsyncLocalStorage in use adds a property, which takes time. */
function marks(): number {
  return Object.getOwnPropertySymbols(Promise.resolve()).length;
}

describe('Applications of a process', () => {
  it('add one mark to Promises however many are open, and none when all are closed', async () => {
    const without = marks();
    const first = await startApplication();
    const withOne = marks();
    const others = await Promise.all([1, 2, 3].map(startApplication));
    const withFour = marks();
    for (const app of others) await app.close();
    const again = marks();
    await first.close();
    // Node may stop marking Promises in a later turn of the event loop.
    await waitFor(() => marks() === without, { that: 'Promises without a mark' });

    expect({ withFour, again }).toEqual({ withFour: withOne, again: withOne });
  });
});
