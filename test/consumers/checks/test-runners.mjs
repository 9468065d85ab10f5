import { nest11Classic, nest11CommonJs, nest12CommonJs, nest12Esm } from '../applications.mjs';
import { isNode } from '../runtimes.mjs';

const JEST = 'node_modules/jest/bin/jest.js';
const VM_MODULES = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];

/** The test of the README under each test runner, with the settings that `nest new` makes for it. */
const RUNNERS = [
  {
    name: 'Jest, CommonJS',
    kind: nest11CommonJs,
    args: [JEST, '--config', 'jest.commonjs.config.json'],
  },
  {
    name: 'Jest, CommonJS',
    kind: nest11Classic,
    args: [JEST, '--config', 'jest.commonjs.config.json'],
  },
  {
    name: 'Jest, ES modules',
    kind: nest12Esm,
    args: [...VM_MODULES, JEST, '--config', 'jest.esm.config.json'],
  },
  { name: 'Vitest', kind: nest12Esm, args: ['node_modules/vitest/vitest.mjs', 'run'] },
  {
    name: 'Jest, CommonJS',
    kind: nest12CommonJs,
    args: [...VM_MODULES, JEST, '--config', 'jest.commonjs.config.json'],
    // Before Node 24.9 Jest cannot require NestJS 12, which is ES modules.
    oldestNode: 24,
  },
];

/**
 * @param {import('../application.mjs').Application} application
 * @param {import('../runtimes.mjs').Runtime} runtime
 * @returns {import('./check.mjs').Check[]}
 */
export function testRunnerChecks(application, runtime) {
  const { title: variant, version, program } = runtime;
  if (!isNode(runtime)) return [];
  return RUNNERS.filter(
    ({ kind, oldestNode = 0 }) => kind === application.kind && Number.parseFloat(version) >= oldestNode,
  ).map(({ name, args }) => ({
    subject: application.kind.name,
    what: `is tested without Redis, ${name}`,
    variant,
    run: () => application.run(program, args),
  }));
}
