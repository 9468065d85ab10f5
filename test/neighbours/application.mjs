// Installs a group of neighbours outside of the repository, so that no package of the repository is found by chance.
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { provideInstallation } from '../../tools/setup/installation.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));

/**
 * Installs the packages of a group and the packed package, and copies the scenarios. Later calls keep the packages
 * until their lock file changes.
 *
 * @param {string} group a folder beside this file
 * @param {string} tarball
 * @param {import('../../tools/setup/system.mjs').System} system
 * @returns {string} the folder of the application
 * @throws Error when npm or tar fails
 */
export function provideApplication(group, tarball, system) {
  const lock = readFileSync(join(here, group, 'package-lock.json'));
  const digest = createHash('sha256').update(root).update(lock).digest('hex').slice(0, 16);
  const application = join(tmpdir(), `nest-redis-lock-neighbours-${group}-${digest}`);
  mkdirSync(application, { recursive: true });
  for (const name of ['package.json', 'package-lock.json'])
    copyFileSync(join(here, group, name), join(application, name));
  provideInstallation(application, system);

  const packed = join(application, 'node_modules/nest-redis-lock');
  rmSync(packed, { recursive: true, force: true });
  mkdirSync(packed);
  if (!system.run('tar', ['-xzf', tarball, '-C', packed, '--strip-components=1']))
    throw new Error('tar failed; its output above says why');
  for (const folder of ['scenarios', 'support']) {
    rmSync(join(application, folder), { recursive: true, force: true });
    cpSync(join(here, folder), join(application, folder), { recursive: true });
  }
  return application;
}

/**
 * Checks the types of scenarios, as the compiler of an application does.
 *
 * @param {string} application
 * @param {readonly string[]} scenarios
 * @param {import('../../tools/setup/system.mjs').System} system
 * @returns {boolean}
 */
export function compiles(application, scenarios, system) {
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { paths: {}, typeRoots: [join(root, 'node_modules/@types')], types: ['node'] },
    files: scenarios.map((scenario) => `scenarios/${scenario}.ts`),
    include: [],
  };
  writeFileSync(join(application, 'tsconfig.json'), JSON.stringify(config));
  return system.run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', application]);
}
