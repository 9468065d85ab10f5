import { copyFile, mkdtemp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { hasIoredis } from '../applications.mjs';
import { sellTheLastPieceOnce } from '../serve.mjs';
import { buildsOf } from './builds.mjs';

const { tryCommands } = createRequire(import.meta.url)('../../support/try-commands.ts');

/**
 * What an application does on one version of Node.
 *
 * @param {import('../application.mjs').Application} application
 * @param {import('../node-versions.mjs').NodeVersion} node
 * @param {{ redisUrl: string, scratch: string }} settings
 * @returns {import('./check.mjs').Check[]}
 */
export function runChecksOf(application, node, { redisUrl, scratch }) {
  const builds = buildsOf(application);
  const hasClient = Object.keys(application.kind.client).length > 0;
  const run = (/** @type {readonly string[]} */ ...args) => application.run(node.program, args);
  const check = (/** @type {string} */ what, /** @type {() => Promise<unknown>} */ work) => ({
    subject: application.kind.name,
    what,
    variant: node.name,
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
    ...(hasClient ? [] : [check('has its locks in memory', () => run('in-memory.mjs'))]),
    ...(hasIoredis(application.kind)
      ? [
          check('has a command that shows and releases locks', () =>
            tryCommands({
              program: join(application.directory, 'node_modules/.bin/nest-redis-lock'),
              node: node.program,
              redisUrl,
            }),
          ),
        ]
      : []),
    ...(hasClient ? builds : []).map((build) =>
      check(`sells the last piece once, built by ${build.name}`, async () => {
        const main = await programOf(application, build, scratch);
        await sellTheLastPieceOnce({ node: node.program, main, redisUrl });
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
 * The program that a build made. A bundle is run far from the packages, as it is meant to be.
 *
 * @param {import('../application.mjs').Application} application
 * @param {import('./builds.mjs').Build} build
 * @param {string} scratch
 */
async function programOf(application, { name, bundle }, scratch) {
  const file = await application.builtFile(name, 'main.js');
  if (!bundle) return file;
  const alone = join(await mkdtemp(join(scratch, 'bundle-')), application.kind.esm ? 'main.mjs' : 'main.cjs');
  await copyFile(file, alone);
  return alone;
}
