// Builds dist, unless it is up to date.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {import('./system.mjs').System} System */

/** What the build depends on. Some packages are bundled, so a change of them needs a build. */
const SOURCES = [
  'lib',
  'tools/build.mjs',
  'tools/build-nest.mjs',
  'tsconfig.json',
  'tsconfig.build.json',
  'package.json',
  'package-lock.json',
  'jest.config.json',
];
/** Digests of dist and its sources after the last build: of all of it, and of the code alone. */
const MARKS = { all: '.cache/build.sha256', code: '.cache/build-code.sha256' };

/**
 * Runs `tools/build.mjs` if dist or its sources have changed since the last build.
 *
 * Compares contents, not times. That includes dist, which anybody may have changed.
 *
 * @param {string} root directory of package.json
 * @param {Pick<System, 'run'>} system
 * @param {{ codeOnly?: boolean }} [options] whether to leave out the declarations, which takes a third of the time
 * @throws Error when the build fails
 */
export function provideBuild(root, system, { codeOnly = false } = {}) {
  const before = digestOf(root, [...SOURCES, 'dist']);
  const isFresh = (/** @type {string} */ mark) =>
    existsSync(join(root, mark)) && readFileSync(join(root, mark), 'utf8') === before;
  if (isFresh(MARKS.all) || (codeOnly && isFresh(MARKS.code))) return;
  const args = ['tools/build.mjs', ...(codeOnly ? ['--code'] : [])];
  if (!system.run(process.execPath, args, { cwd: root, what: 'Building the package' }))
    throw new Error('The build failed; its output above says why');
  mkdirSync(join(root, '.cache'), { recursive: true });
  writeFileSync(join(root, codeOnly ? MARKS.code : MARKS.all), digestOf(root, [...SOURCES, 'dist']));
}

/**
 * Names and contents of files, as one text.
 *
 * @param {string} root
 * @param {readonly string[]} paths files, and folders with all that is in them
 */
export function digestOf(root, paths) {
  const hash = createHash('sha256');
  for (const file of paths.flatMap((path) => filesOf(root, path))) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

/**
 * @param {string} root
 * @param {string} path
 * @returns {string[]}
 */
function filesOf(root, path) {
  const stats = statSync(join(root, path), { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return stats ? [path] : [];
  return readdirSync(join(root, path))
    .toSorted()
    .flatMap((name) => filesOf(root, join(path, name)));
}
