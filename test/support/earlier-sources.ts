import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');

/**
 * The `lib` of an earlier revision, taken from git's history into `.cache` once. A worker process can import its
 * `index.ts`; the packages are those of this working copy. Nothing is built, so no build tool of that time is needed.
 *
 * @throws Error where the history does not have the revision, as in a shallow clone
 */
export function earlierSources(revision: string): string {
  const target = join(ROOT, '.cache/earlier', revision);
  if (existsSync(target)) return join(target, 'lib');
  // Other test processes may look for it meanwhile.
  const draft = `${target}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const archive = join(draft, 'lib.tar');
  try {
    execFileSync('git', ['archive', '--output', archive, revision, '--', 'lib'], { cwd: ROOT });
  } catch (cause) {
    throw new Error(`Revision ${revision} is not in this clone's history: fetch all of it first.`, { cause });
  }
  execFileSync('tar', ['-xf', archive], { cwd: draft });
  rmSync(archive);
  try {
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { recursive: true });
    if (!existsSync(target)) throw error;
  }
  return join(target, 'lib');
}
