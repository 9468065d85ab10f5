// Installs what package-lock.json asks for, unless exactly that is installed.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {{ version?: string, integrity?: string, optional?: boolean }} LockedPackage
 * @typedef {{ packages: Record<string, LockedPackage> }} LockFile
 * @typedef {import('./system.mjs').System} System
 */

/**
 * Runs `npm ci` where the packages in node_modules are not those of the lock file.
 *
 * Compares contents, not times: a fresh clone gives every file the time of the clone.
 *
 * @param {string} root directory of package.json
 * @param {Pick<System, 'run' | 'say'>} system
 * @throws Error when npm fails
 */
export function provideInstallation(root, system) {
  if (isInstalled(root)) return;
  system.say('Installing the packages of package-lock.json: npm ci');
  // Where NODE_ENV is production npm would leave out all that the tests need.
  const arrived = system.run('npm', ['ci', '--include=dev', '--no-audit', '--no-fund'], { cwd: root });
  if (!arrived) throw new Error('npm ci failed; its output above says why');
}

/** @param {string} root */
function isInstalled(root) {
  const installed = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(installed)) return false;
  const wanted = readLockFile(join(root, 'package-lock.json')).packages;
  const present = readLockFile(installed).packages;
  return Object.entries(wanted).every(([path, wish]) => {
    if (path === '') return true;
    const found = present[path];
    // An optional package may be for another system.
    if (found === undefined) return wish.optional === true;
    return found.version === wish.version && found.integrity === wish.integrity;
  });
}

/**
 * @param {string} file
 * @returns {LockFile}
 */
function readLockFile(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
