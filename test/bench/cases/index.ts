import type { BenchCase } from '../bench.js';
import { farRedisCase } from './far-redis.case.js';
import { freeNamesCases } from './free-names.case.js';
import { growthCase } from './growth.case.js';
import { handoffClusterCase } from './handoff-cluster.case.js';
import { handoffCase } from './handoff.case.js';
import { hotNameCases } from './hot-name.case.js';
import { httpRouteCase } from './http-route.case.js';
import { killedHolderCase } from './killed-holder.case.js';
import { loadCase } from './load.case.js';
import { manyWaitersCase } from './many-waiters.case.js';
import { onceCases } from './once.case.js';
import { overheadCase } from './overhead.case.js';
import { memoryCase } from './memory.case.js';
import { quorumCases } from './quorum.case.js';
import { readersCases } from './readers.case.js';
import { renewedHoldsCase } from './renewed-holds.case.js';
import { semaphoreCases } from './semaphore.case.js';
import { severalNamesCases } from './several-names.case.js';

/** In the order in which they run. */
export const benchCases: readonly BenchCase[] = [
  ...freeNamesCases,
  ...hotNameCases,
  ...readersCases,
  ...semaphoreCases,
  farRedisCase,
  handoffCase,
  handoffClusterCase,
  killedHolderCase,
  ...quorumCases,
  manyWaitersCase,
  memoryCase,
  ...severalNamesCases,
  renewedHoldsCase,
  ...onceCases,
  httpRouteCase,
  overheadCase,
  growthCase,
  loadCase,
];
