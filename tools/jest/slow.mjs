// npm run test:slow: the suites that npm test leaves out.
import { base } from './base.mjs';
import { SLOW } from './slow-suites.mjs';

const { testMatch: _, ...rest } = base;

export default { ...rest, maxWorkers: 4, testRegex: SLOW.map((path) => `${path}.*(?<=\\.spec\\.ts)$`) };
