// Builds dist, unless that is what the sources make of it already.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** @typedef {import('./system.mjs').System} System */

/** What the build is made of; the packages, too, for some are bundled. */
const SOURCES = [
  'lib',
  'tools/build.mjs',
  'tsconfig.json',
  'tsconfig.build.json',
  'package.json',
  'package-lock.json',
];
/** What dist and its sources were after the last build. */
const MARK = '.cache/build.sha256';

/**
 * Runs `tools/build.mjs` where dist or its sources are not as they were after the last build.
 *
 * Compares contents, not times: those of dist, too, which anybody may have changed.
 *
 * @param {string} root directory of package.json
 * @param {Pick<System, 'run'>} system
 * @throws Error when the build fails
 */
export function provideBuild(root, system) {
  const mark = join(root, MARK);
  if (existsSync(mark) && readFileSync(mark, 'utf8') === digest(root)) return;
  const isBuilt = system.run(process.execPath, ['tools/build.mjs'], { cwd: root });
  if (!isBuilt) throw new Error('The build failed; its output above says why');
  mkdirSync(dirname(mark), { recursive: true });
  writeFileSync(mark, digest(root));
}

/** @param {string} root */
function digest(root) {
  const hash = createHash('sha256');
  for (const file of [...SOURCES, 'dist'].flatMap((path) => filesOf(root, path))) {
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
