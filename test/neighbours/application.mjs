// Installs all neighbours outside of the repository, so that no package of the repository is found by chance.
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { provideInstallation } from '../../tools/setup/installation.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));

/**
 * Installs the packages of all groups, and in each group the packed package and the scenarios. Later calls keep the
 * packages until the lock file changes.
 *
 * @param {readonly string[]} groups folders beside this file
 * @param {string} tarball
 * @param {import('../../tools/setup/system.mjs').System} system
 * @returns {{ installation: string, applications: Record<string, string> }} folders; those of applications by group
 * @throws Error when npm or tar fails
 */
export function provideApplications(groups, tarball, system) {
  const lock = readFileSync(join(here, 'package-lock.json'));
  const digest = createHash('sha256').update(root).update(lock).digest('hex').slice(0, 16);
  const installation = join(tmpdir(), `nest-redis-lock-neighbours-${digest}`);
  for (const name of ['package.json', 'package-lock.json', ...groups])
    cpSync(join(here, name), join(installation, name), { recursive: true });
  provideInstallation(installation, system);

  const application = (/** @type {string} */ group) => {
    const folder = join(installation, group);
    const packed = join(folder, 'node_modules/nest-redis-lock');
    rmSync(packed, { recursive: true, force: true });
    mkdirSync(packed, { recursive: true });
    if (!system.run('tar', ['-xzf', tarball, '-C', packed, '--strip-components=1']))
      throw new Error('tar failed; its output above says why');
    for (const copied of ['scenarios', 'support']) {
      rmSync(join(folder, copied), { recursive: true, force: true });
      cpSync(join(here, copied), join(folder, copied), { recursive: true });
    }
    return folder;
  };
  const applications = Object.fromEntries(groups.map((group) => [group, application(group)]));
  return { installation, applications };
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
