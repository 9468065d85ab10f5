import type { BenchCase } from '../bench.js';
import { freeNamesCases } from './free-names.case.js';
import { hotNameCases } from './hot-name.case.js';

/** In the order in which they run. */
export const benchCases: readonly BenchCase[] = [...freeNamesCases, ...hotNameCases];
