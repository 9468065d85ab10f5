// Packs the build and uses it as users do, in new applications outside of this repository:
// node --require ./tools/typescript.hook.cjs test/consumers/run.mjs [--short]
//
// --short   one application of each kind of modules and clients, on the oldest Node, Bun and Deno
import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Application } from './application.mjs';
import { applications, oneOfEachKind } from './applications.mjs';
import { buildChecks } from './checks/builds.mjs';
import { EVERYWHERE, nameOf, runChecks } from './checks/check.mjs';
import { declarationChecks, importChecks } from './checks/declarations.mjs';
import { runChecksOf } from './checks/runs.mjs';
import { testRunnerChecks } from './checks/test-runners.mjs';
import { PackageUnderTest } from './package-under-test.mjs';
import { resultsTable } from './results-table.mjs';
import { installRuntime, isLaterNode, runtimes as programs } from './runtimes.mjs';

const require = createRequire(import.meta.url);
const { RedisServer } = require('../support/redis-server.ts');
const root = fileURLToPath(new URL('../..', import.meta.url));

const { values: asked } = parseArgs({ options: { short: { type: 'boolean', default: false } } });
const kinds = asked.short ? oneOfEachKind : applications;

const INSTALLATION = 'is installed, without a word about peers';

/**
 * @param {string} scratch
 * @param {string} redisUrl
 * @param {AbortSignal} signal
 */
async function tryEverything(scratch, redisUrl, signal) {
  const tested = PackageUnderTest.pack(root);
  const tried = await Promise.all(kinds.map((kind) => Application.create(kind, tested, { scratch, signal })));
  const runtimes = programs(tested.oldestNode, scratch).filter(
    (runtime) => !asked.short || !isLaterNode(runtime, tested.oldestNode),
  );

  /** @type {Set<unknown>} */
  const ready = new Set();
  const installed = await runChecks(
    [
      ...tried.map((application) => ({
        subject: application.kind.name,
        what: INSTALLATION,
        run: () => application.install().then(() => ready.add(application)),
      })),
      ...runtimes.map((runtime) => ({
        subject: EVERYWHERE,
        what: INSTALLATION,
        variant: runtime.title,
        run: () => installRuntime(runtime, signal).then(() => ready.add(runtime)),
      })),
    ],
    signal,
  );
  const readyApplications = tried.filter((each) => ready.has(each));
  const readyRuntimes = runtimes.filter((each) => ready.has(each));

  const built = await runChecks(
    [
      ...importChecks(tested),
      ...readyApplications.flatMap(buildChecks),
      ...readyApplications.flatMap(declarationChecks),
    ],
    signal,
  );
  const ran = await runChecks(
    readyApplications.flatMap((application) =>
      readyRuntimes.flatMap((runtime) => [
        ...testRunnerChecks(application, runtime),
        ...runChecksOf(application, runtime, { redisUrl, scratch }),
      ]),
    ),
    signal,
  );
  return [...installed, ...built, ...ran];
}

const scratch = mkdtempSync(join(realpathSync(tmpdir()), 'nest-redis-lock-consumers-'));
const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => interruption.abort());

const begin = performance.now();
const redis = await RedisServer.start();
try {
  const results = await tryEverything(scratch, redis.url, interruption.signal);
  const failed = results.filter((result) => 'error' in result);
  console.log(`\n${resultsTable(results, [...kinds.map(({ name }) => name), EVERYWHERE])}\n`);
  for (const each of failed) console.log(`FAILED ${nameOf(each)}`);
  const seconds = ((performance.now() - begin) / 1_000).toFixed(0);
  console.log(`${results.length - failed.length} of ${results.length} combinations hold (${seconds} s)`);
  if (failed.length > 0) process.exitCode = 1;
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await redis.stop();
  // Node alone takes many times as long for that many files.
  spawnSync('rm', ['-rf', scratch]);
  // Again where an interrupted npm was still writing.
  rmSync(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
