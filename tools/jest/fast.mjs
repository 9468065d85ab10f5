// npm test: the suites of jest.config.json but the slow ones.
import { config, root } from './base.mjs';
import { ELSEWHERE, SLOW } from './slow-suites.mjs';

export default {
  ...config,
  rootDir: root,
  maxWorkers: 4,
  testPathIgnorePatterns: [...config.testPathIgnorePatterns, ...SLOW, ...ELSEWHERE],
};
