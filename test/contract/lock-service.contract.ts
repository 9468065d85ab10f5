import { Logger } from '@nestjs/common';
import type { LockService } from '../../lib/service/lock.service.js';
import { steadily } from '../support/steadily.js';
import type { Capabilities, ContractContext, ContractTest, LockBackend } from './lock-backend.js';
import { describeAsyncContexts } from './parts/async-contexts.part.js';
import { describeAcquiring } from './parts/acquiring.part.js';
import { describeDiagnostics } from './parts/diagnostics.part.js';
import { describeClocks } from './parts/clocks.part.js';
import { describeDeadlocks } from './parts/deadlocks.part.js';
import { describeErrors } from './parts/errors.part.js';
import { describeTransfer } from './parts/transfer.part.js';
import { describeHolds } from './parts/holds.part.js';
import { describeKeptContexts } from './parts/kept-contexts.part.js';
import { describeLeading } from './parts/leading.part.js';
import { describeLeases } from './parts/leases.part.js';
import { describeListing } from './parts/listing.part.js';
import { describeModes, describeSemaphores } from './parts/modes.part.js';
import { describeOnce } from './parts/once.part.js';
import { describeOperations } from './parts/operations.part.js';
import { describePermits } from './parts/permits.part.js';
import { describeReentrance } from './parts/reentrance.part.js';
import { describeContendedNames } from './parts/several-names-contended.part.js';
import { describeSeveralNames } from './parts/several-names.part.js';
import { describeShutdown } from './parts/shutdown.part.js';
import { describeSignals } from './parts/signals.part.js';
import { describeWork } from './parts/work.part.js';

const PARTS = [
  describeAcquiring,
  describeSignals,
  describeHolds,
  describeLeases,
  describeWork,
  describeReentrance,
  describeAsyncContexts,
  describeKeptContexts,
  describeDeadlocks,
  describeTransfer,
  describeLeading,
  describeOnce,
  describeSeveralNames,
  describeContendedNames,
  describeModes,
  describeSemaphores,
  describePermits,
  describeErrors,
  describeOperations,
  describeListing,
  describeDiagnostics,
  describeShutdown,
  // In memory the clock stays as it was set.
  describeClocks,
];

/**
 * What LockService promises whatever keeps its locks.
 *
 * @example
 * describeLockService('in memory', async () => new MemoryBackend());
 */
export function describeLockService(
  name: string,
  setUp: () => Promise<LockBackend>,
  capabilities: Capabilities = {
    ordersInstances: true,
    handsOff: true,
    detaches: true,
    shares: true,
    lists: true,
    keeps: true,
    timeError: 1,
  },
): void {
  describe(`LockService ${name}`, () => {
    let backend: LockBackend;
    let locks: LockService;
    let others: LockService;
    let tests = 0;
    // Tests read it when they run, when everything is there.
    const context: ContractContext = {
      capabilities,
      it: testBy((test) => test(context)),
      get backend() {
        return backend;
      },
      get locks() {
        return locks;
      },
      get others() {
        return others;
      },
      get name() {
        return `contract:${tests}`;
      },
      get a() {
        return `${this.name}:a`;
      },
      get b() {
        return `${this.name}:b`;
      },
      get c() {
        return `${this.name}:c`;
      },
    };

    beforeAll(async () => {
      // Refused releases and the like are logged, too; the tests look at what callers see.
      Logger.overrideLogger(false);
      backend = await setUp();
      [locks, others] = [backend.service(), backend.service()];
    });
    afterAll(() => backend.close());
    beforeEach(() => void (tests += 1));

    for (const describePart of PARTS) describePart(context);

    function testBy(run: (test: (given: ContractContext) => Promise<void>) => Promise<void>): ContractTest {
      const declare = (title: string, test: (given: ContractContext) => Promise<void>): void =>
        it(title, () => run(test));
      return Object.assign(declare, {
        skip: (title: string) => it.skip(title, () => {}),
        each:
          (rows: readonly unknown[]) =>
          (title: string, test: (given: ContractContext, ...row: never[]) => Promise<void>) =>
            it.each(rows)(title, (...row: unknown[]) => run((given) => test(given, ...(row as never[])))),
        steadily: (bearable: number) =>
          testBy((test) => {
            const measure = (): Promise<void> => {
              tests += 1;
              return test(context);
            };
            return steadily(bearable, measure, () => backend.ping());
          }),
      });
    }
  });
}
