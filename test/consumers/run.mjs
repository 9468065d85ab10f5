// Packs the build and uses it as users do, in new applications outside of this repository:
// node --require ./test/support/typescript.hook.cjs test/consumers/run.mjs
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application } from './application.mjs';
import { applications } from './applications.mjs';
import { importedPackages } from './imported-packages.mjs';
import { quickStart } from './quick-start.mjs';

const require = createRequire(import.meta.url);
const { RedisServer } = require('../support/redis-server.ts');
const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * @param {string} what
 * @param {() => Promise<unknown>} work
 */
async function step(what, work) {
  const begin = performance.now();
  process.stdout.write(`- ${what} `);
  await work();
  console.log(`(${((performance.now() - begin) / 1_000).toFixed(1)} s)`);
}

/** @param {string} directory */
function pack(directory) {
  const report = execFileSync('npm', ['pack', '--json', '--pack-destination', directory], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return join(directory, JSON.parse(report)[0].filename);
}

/**
 * Two buyers of the last piece at the same time: the second has to wait for the first, and finds none left.
 *
 * @param {string} url
 */
async function buyTheLastPieceTwice(url) {
  const orders = [1, 2].map(() => fetch(`${url}/orders/book`, { method: 'POST' }));
  const answers = await Promise.all(
    (await Promise.all(orders)).map(async (answer) => [answer.status, await answer.json()]),
  );
  const [sold, soldOut] = answers.toSorted(([a], [b]) => a - b);
  assert.deepEqual(sold, [201, { sold: 'book' }]);
  assert.equal(soldOut?.[0], 409);
}

/** @param {Application} application */
async function assertNoOptionalPeers({ directory }) {
  const installed = join(directory, 'node_modules/nest-redis-lock');
  const { peerDependencies, peerDependenciesMeta = {} } = JSON.parse(
    await readFile(join(installed, 'package.json'), 'utf8'),
  );
  const needed = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
  for (const file of ['cjs/index.js', 'cjs/index.d.ts', 'esm/index.js', 'esm/index.d.ts']) {
    const packages = [...importedPackages(join(installed, 'dist', file))];
    const others = packages.filter((name) => !needed.includes(name));
    assert.deepEqual(others, [], `${file} imports ${others.join(', ')}, which users need not have`);
    assert.ok(packages.includes('@nestjs/common'), `Nothing was found behind ${file}`);
  }
}

/**
 * @param {Application} application
 * @param {string} redisUrl
 */
async function use(application, redisUrl) {
  await step('installs without a word about peers', () => application.install());
  await step('compiles the quick start, declarations of packages included', () => application.compile());
  await step('imports no package from the root that users need not have', () =>
    assertNoOptionalPeers(application),
  );
  await step('has one copy when the package is imported and required', async () => {
    await application.runScript('one-copy.mjs');
    await application.runScript('one-copy.cjs');
  });
  await step('runs the quick start: of two orders for the last piece, one waits and is told', () =>
    application.serve(redisUrl, buyTheLastPieceTwice),
  );
  await step('tests a locked method with its Jest, without Redis', () => application.runJest());
}

const scratch = mkdtempSync(join(realpathSync(tmpdir()), 'nest-redis-lock-consumers-'));
const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => interruption.abort());

const redis = await RedisServer.start();
try {
  const tarball = pack(scratch);
  for (const kind of applications) {
    console.log(`\n${kind.name}`);
    const application = await Application.create(kind, {
      scratch,
      tarball,
      main: quickStart(),
      signal: interruption.signal,
    });
    await use(application, redis.url);
  }
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await redis.stop();
  // Again where an interrupted npm was still writing.
  rmSync(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
