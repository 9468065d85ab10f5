// Installs the packages that a script needs, unless they are installed already.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {{
 *   version?: string,
 *   integrity?: string,
 *   link?: boolean,
 *   optional?: boolean,
 *   dependencies?: Record<string, string>,
 *   devDependencies?: Record<string, string>,
 *   optionalDependencies?: Record<string, string>,
 * }} LockedPackage
 * @typedef {Record<string, LockedPackage>} LockedPackages by their folder
 * @typedef {import('./system.mjs').System} System
 */

const OPTIONS = ['--include=dev', '--no-audit', '--no-fund'];

/**
 * Runs npm if node_modules lacks packages of the lock file, or has them in another version.
 *
 * Compares contents, not times: a fresh clone gives every file the time of the clone.
 *
 * @param {string} root directory of package.json
 * @param {Pick<System, 'run'>} system
 * @param {readonly string[]} [groups] folders of tools/packages; all packages without it
 * @throws Error when npm fails
 */
export function provideInstallation(root, system, groups) {
  const lock = readLockFile(join(root, 'package-lock.json'));
  const wanted = groups ? packagesOf(lock, groups.map(folderOf)) : new Set(Object.keys(lock));
  const file = join(root, 'node_modules/.package-lock.json');
  const exists = (/** @type {string} */ folder) => existsSync(join(root, folder));
  if (existsSync(file) && isInstalled(wanted, lock, readLockFile(file), exists)) return;
  const workspaces = groups?.map((group) => `--workspace=${folderOf(group)}`) ?? [];
  // `npm ci` would remove the packages of other groups.
  const command = existsSync(file) ? ['install', '--no-save'] : ['ci'];
  // NODE_ENV=production would make npm leave packages out.
  const args = [...command, ...workspaces, ...OPTIONS];
  const what = `Installing packages (npm ${command.join(' ')})`;
  if (!system.run('npm', args, { cwd: root, what }))
    throw new Error(`npm ${command[0]} failed; its output above says why`);
}

/** @param {string} group */
function folderOf(group) {
  return `tools/packages/${group}`;
}

/**
 * The folders of what packages depend on, as Node finds it.
 *
 * @param {LockedPackages} lock
 * @param {readonly string[]} from
 */
function packagesOf(lock, from) {
  /** @type {Set<string>} */
  const found = new Set();
  const open = [...from];
  for (const folder of open) {
    const { dependencies, devDependencies, optionalDependencies } = lock[folder] ?? {};
    // Those of the packages that a lock file lists are not installed.
    const ofWorkspace = folder.includes('node_modules') ? {} : devDependencies;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...ofWorkspace })) {
      const dependency = resolve(lock, folder, name);
      if (dependency === undefined || found.has(dependency)) continue;
      found.add(dependency);
      open.push(dependency);
    }
  }
  return found;
}

/**
 * @param {LockedPackages} lock
 * @param {string} folder
 * @param {string} name
 * @returns {string | undefined}
 */
function resolve(lock, folder, name) {
  const nested = `${folder}/node_modules/${name}`;
  if (lock[nested]) return nested;
  const end = folder.lastIndexOf('/node_modules/');
  if (end >= 0) return resolve(lock, folder.slice(0, end), name);
  const hoisted = `node_modules/${name}`;
  return lock[hoisted] && hoisted;
}

/**
 * @param {Set<string>} wanted
 * @param {LockedPackages} lock
 * @param {LockedPackages} present
 * @param {(folder: string) => boolean} exists
 */
function isInstalled(wanted, lock, present, exists) {
  return [...wanted].every((folder) => {
    const { link, integrity, optional, version } = lock[folder] ?? {};
    if (link || !folder.includes('node_modules')) return true;
    const found = present[folder];
    // An optional package may be for another system.
    if (found === undefined) return optional === true;
    // Copies of a working directory may share the list as a hard link, and npm writes it in place.
    if (!exists(folder)) return false;
    return found.version === version && found.integrity === integrity;
  });
}

/**
 * @param {string} file
 * @returns {LockedPackages}
 */
function readLockFile(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}
