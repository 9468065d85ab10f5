import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../../..');
const BUILT = 'dist/cjs/lock-service.factory.js';
/** What a build needs of a revision; the packages are those of this working copy, which lies above `.cache`. */
const SOURCES = ['lib', '.ci', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];

/**
 * The root of a built package: a directory that has one, or a git revision, which is built once and kept.
 *
 * @throws Error when it is neither, or cannot be built
 */
export function earlierBuild(revisionOrDirectory: string): string {
  const directory = resolve(revisionOrDirectory);
  if (existsSync(join(directory, BUILT))) return directory;
  const commit = commitOf(revisionOrDirectory);
  const target = join(ROOT, '.cache/bench', commit);
  if (existsSync(join(target, BUILT))) return target;
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const archive = join(target, 'sources.tar');
  execFileSync('git', ['archive', '--output', archive, commit, '--', ...SOURCES], { cwd: ROOT });
  execFileSync('tar', ['-xf', archive], { cwd: target });
  execFileSync(process.execPath, ['.ci/build.mjs'], { cwd: target, stdio: ['ignore', 'ignore', 'inherit'] });
  return target;
}

function commitOf(revision: string): string {
  try {
    const args = ['rev-parse', '--verify', '--quiet', `${revision}^{commit}`];
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  } catch (cause) {
    throw new Error(`--against takes a git revision or a directory with ${BUILT}; ${revision} is neither.`, {
      cause,
    });
  }
}
