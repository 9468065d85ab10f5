import { LockEngine } from '../../lib/engine/lock-engine.js';
import { LockService } from '../../lib/service/lock.service.js';
import { resolveFlatOptions } from '../support/flat-options.js';
import { QUIET } from '../support/quiet.js';
import { instanceCalled } from './instance-called.js';
import type { NetworkTerms } from './network-terms.js';
import type { Link, Servers } from './servers.js';
import { SimulatedProcess } from './simulated-process.js';
import type { VirtualTime } from './virtual-time.js';

const NAMES = ['a', 'b', 'c', 'd'].map((each) => instanceCalled(each));

/** An instance of an application, with its engine and its connections. */
export interface Instance {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly link: Link;
  readonly engine: LockEngine;
  readonly service: LockService;
}

/** Starts an instance for each clock of the schedule. */
export function startInstances(
  time: VirtualTime,
  servers: Pick<Servers, 'link'>,
  { drifts, budget }: Pick<NetworkTerms, 'drifts' | 'budget'>,
): Instance[] {
  return drifts.map((drift, index) => {
    const name = NAMES[index] ?? instanceCalled('z');
    const process = new SimulatedProcess(time, 1 + drift / 1_000, 10_000 * index);
    const link = servers.link(name, index, process);
    const engine = new LockEngine({
      name,
      store: link.store,
      clock: process,
      budget,
      log: QUIET,
      // Errors do not wait for the labels of other instances.
      labelIntervals: [],
    });
    return { name, process, link, engine, service: new LockService(resolveFlatOptions({}), engine) };
  });
}

/** Says what a live instance keeps although all callers have ended. */
export function assertNothingKept(instances: readonly Instance[], fail: (what: string) => never): void {
  for (const { name, process, engine } of instances) {
    if (!process.alive) continue;
    if (engine.size > 0) fail(`${name} still has ${engine.size} local queues`);
    if (engine.leases.size > 0) fail(`${name} still keeps ${engine.leases.size} leases`);
  }
}

/** Runs work, and reports the rejections that nobody handles meanwhile. */
export async function watchingRejections(
  report: (reason: unknown) => void,
  work: () => Promise<void>,
): Promise<void> {
  process.on('unhandledRejection', report);
  try {
    await work();
  } finally {
    process.off('unhandledRejection', report);
  }
}
