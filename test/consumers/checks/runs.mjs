import { copyFile, mkdtemp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import {
  hasClient,
  hasIoredis,
  hasIovalkey,
  nest11CommonJs,
  nest12Esm,
  nest12NodeRedis,
} from '../applications.mjs';
import { isNode } from '../runtimes.mjs';
import { sellTheLastPieceOnce } from '../serve.mjs';
import { buildsOf } from './builds.mjs';

const { tryCommands } = createRequire(import.meta.url)('../../support/try-commands.ts');

/**
 * Both module systems and both clients. Deno runs CommonJS only where package.json has a type, which `nest new` omits.
 *
 * @type {Record<string, readonly import('../applications.mjs').ApplicationKind[]>}
 */
const BEYOND_NODE = {
  bun: [nest11CommonJs, nest12Esm, nest12NodeRedis],
  deno: [nest12Esm, nest12NodeRedis],
};

/**
 * What an application does on one runtime.
 *
 * @param {import('../application.mjs').Application} application
 * @param {import('../runtimes.mjs').Runtime} runtime
 * @param {{ redisUrl: string, scratch: string }} settings
 * @returns {import('./check.mjs').Check[]}
 */
export function runChecksOf(application, runtime, { redisUrl, scratch }) {
  if (!isNode(runtime) && !BEYOND_NODE[runtime.name]?.includes(application.kind)) return [];
  // Bundles are made for Node.
  const builds = buildsOf(application).filter(({ bundle }) => isNode(runtime) || !bundle);
  const run = (/** @type {readonly string[]} */ ...args) =>
    application.run(runtime.program, [...runtime.args, ...args]);
  const check = (/** @type {string} */ what, /** @type {() => Promise<unknown>} */ work) => ({
    subject: application.kind.name,
    what,
    variant: runtime.title,
    run: work,
  });
  return [
    check('has one copy, imported and required', async () => {
      await run('one-copy/main.mjs');
      await run('one-copy/main.cjs');
    }),
    check('knows the errors of a second copy', () => run('two-copies.mjs')),
    check('tells which optional peer is missing', async () => {
      await run('lacking.mjs', 'import', ...lackingIn(application));
      await run('lacking.mjs', 'require', ...lackingIn(application));
    }),
    ...(hasIoredis(application.kind)
      ? []
      : [check('tells which client to install', () => run('no-client.mjs'))]),
    ...(hasIovalkey(application.kind)
      ? [check('takes a client of iovalkey', () => run('iovalkey.mjs', redisUrl))]
      : []),
    ...(hasClient(application.kind) ? [] : [check('has its locks in memory', () => run('in-memory.mjs'))]),
    ...(hasIoredis(application.kind) && isNode(runtime)
      ? [
          check('has a command that shows and releases locks', () =>
            tryCommands({
              program: join(application.directory, 'node_modules/.bin/nest-redis-lock'),
              node: runtime.program,
              redisUrl,
            }),
          ),
        ]
      : []),
    ...(hasClient(application.kind) ? builds : []).map((build) =>
      check(`sells the last piece once, built by ${build.name}`, async () => {
        const main = await programOf(application, build, { runtime, scratch });
        await sellTheLastPieceOnce({ runtime, main, redisUrl });
      }),
    ),
    ...builds
      .filter(({ bundle }) => bundle)
      .map((build) =>
        check(`has one copy, bundled by ${build.name}`, async () =>
          run(await application.builtFile(build.name, 'one-copy.js')),
        ),
      ),
  ];
}

/** @param {import('../application.mjs').Application} application */
function lackingIn({ kind, tested }) {
  return tested.entryPointsIn(kind).lacking.map(({ specifier, packages }) => {
    const missing = packages.find((name) => name in tested.optionalPeers);
    return `${specifier}=${missing}`;
  });
}

/**
 * The program that a build made. A bundle is run without the packages beside it.
 *
 * @param {import('../application.mjs').Application} application
 * @param {import('./builds.mjs').Build} build
 * @param {{ runtime: import('../runtimes.mjs').Runtime, scratch: string }} settings
 */
async function programOf(application, { name, bundle }, { runtime, scratch }) {
  const main = runtime.name === 'deno' ? 'named-signals.js' : 'main.js';
  const file = await application.builtFile(name, main);
  if (!bundle) return file;
  const alone = join(await mkdtemp(join(scratch, 'bundle-')), application.kind.esm ? 'main.mjs' : 'main.cjs');
  await copyFile(file, alone);
  return alone;
}
