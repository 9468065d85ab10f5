import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { resultsIn } from './suite-results.mjs';

const jest = createRequire(import.meta.url).resolve('jest/bin/jest');

/** One attempt is enough on a machine that does nothing else; the timings of a busy one need patience. */
const TEST_TIMEOUT = 60_000;

/**
 * Runs some suites in a process of their own.
 *
 * @param {import('./suites.mjs').Run} run
 * @param {{ root: string, env: Record<string, string>, log: string, signal: AbortSignal }} options
 *   `log` is a file for what Jest prints
 * @returns {Promise<import('./suite-results.mjs').SuiteResult[]>} of each suite that the run has to have
 */
export async function runJest({ suites, paths, args = [] }, { root, env, log, signal }) {
  mkdirSync(join(log, '..'), { recursive: true });
  const report = `${log}.json`;
  rmSync(report, { force: true });
  const child = spawn(
    process.execPath,
    [
      jest,
      ...paths,
      ...args,
      // Those of package.json leave out test/topology.
      '--testPathIgnorePatterns=/node_modules/',
      '--testPathIgnorePatterns=\\.long\\.spec\\.ts$',
      `--testTimeout=${TEST_TIMEOUT}`,
      '--json',
      `--outputFile=${report}`,
    ],
    { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'], signal },
  );
  child.stderr.pipe(createWriteStream(log));
  await once(child, 'close');
  const results = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : { testResults: [] };
  return resultsIn(suites, results);
}
