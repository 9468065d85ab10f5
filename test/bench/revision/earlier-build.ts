import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../../..');
/** What a build needs of a revision. */
const SOURCES = [
  'lib',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'jest.config.json',
];
/** Where the build's own program is, and where it was. */
const BUILDS = ['tools', '.ci'];

/**
 * The root of a built package: a directory that has one, or a git revision, which is built once and kept.
 *
 * @throws Error when it is neither, or cannot be built
 */
export function earlierBuild(revisionOrDirectory: string): string {
  const directory = resolve(revisionOrDirectory);
  if (hasBuild(directory)) return directory;
  const commit = commitOf(revisionOrDirectory);
  const target = join(ROOT, '.cache/bench', commit);
  if (hasBuild(target)) return target;
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const archive = join(target, 'sources.tar');
  const build = BUILDS.find((place) => holds(commit, `${place}/build.mjs`)) ?? 'tools';
  execFileSync('git', ['archive', '--output', archive, commit, '--', build, ...SOURCES], { cwd: ROOT });
  execFileSync('tar', ['-xf', archive], { cwd: target });
  // A revision may need packages that this one no longer has.
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error'], target);
  run(process.execPath, [`${build}/build.mjs`], target);
  // Both builds run with the packages of this working copy, which lies above `.cache`.
  rmSync(join(target, 'node_modules'), { recursive: true });
  return target;
}

function run(command: string, args: readonly string[], cwd: string): void {
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Whether there is what its package.json says that users load. */
function hasBuild(directory: string): boolean {
  const description = join(directory, 'package.json');
  if (!existsSync(description)) return false;
  // Not by `require.resolve`: Jest would remember that there was nothing.
  const { main } = JSON.parse(readFileSync(description, 'utf8')) as { main: string };
  return existsSync(join(directory, main));
}

function holds(commit: string, file: string): boolean {
  return spawnSync('git', ['cat-file', '-e', `${commit}:${file}`], { cwd: ROOT }).status === 0;
}

function commitOf(revision: string): string {
  try {
    const args = ['rev-parse', '--verify', '--quiet', `${revision}^{commit}`];
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  } catch (cause) {
    throw new Error(
      `--against takes a git revision or a directory with a built package; ${revision} is neither.`,
      {
        cause,
      },
    );
  }
}
