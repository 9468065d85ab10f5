// Runs the code of docs/recipes/fencing.md: each library against PostgreSQL in this process (PGlite), without a server.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { provideInstallation } from '../../tools/setup/installation.mjs';
import { thisSystem } from '../../tools/setup/system.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));
const system = thisSystem(root);

/**
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
function node(args, env) {
  const { status } = spawnSync(process.execPath, args, {
    cwd: here,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}

try {
  provideInstallation(here, system);
} catch (error) {
  system.say(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
// The client needs no engine; the command would download one for migrations, which this test does without.
node(['node_modules/prisma/build/index.js', 'generate', '--schema', 'schema.prisma'], {
  PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
});
node(['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.json']);
node(['--require', '../../tools/typescript.hook.cjs', '--test-reporter=spec', 'fencing.test.ts']);
