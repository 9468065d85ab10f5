// Every mutant of the searched folders, in one copy of lib: a variable of the test environment activates one of them.
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folders of lib, and how many of 100 mutants the tests must kill. */
export const GOALS = {
  'lib/engine': 90,
  'lib/service': 90,
  'lib/store': 90,
  'lib/nest/locked': 85,
  'lib/keys': 85,
  'lib/options': 85,
};

/** Only the suites of `test/topology` reach these: they start Clusters and sentinels, and take minutes for a mutant. */
const LEFT_OUT =
  /^lib\/store\/redis\/(?:cluster\/|per-name\/|replicas\/|.*\/(?:ioredis-cluster|node-redis-cluster|node-redis-sentinel)\.ts)/u;

/**
 * @typedef {{ start: { line: number, column: number }, end: { line: number, column: number } }} Location from 0
 * @typedef {{ id: string, fileName: string, location: Location, replacement: string }} StrykerMutant
 * @typedef {{ id: string, folder: string, file: string, line: number, before: string, after: string }} Mutant
 *   `before` and `after` are the changed lines; they name a mutant for as long as its code stays
 */

/**
 * Writes a copy of lib that contains all mutants.
 *
 * @param {string} root
 * @param {string} copy a folder below root, so that the copy finds node_modules
 * @returns {Promise<Mutant[]>}
 */
export async function writeMutants(root, copy) {
  // Only this command installs the package, so the type check must not look for it.
  /** @type {string} */
  const instrumenter = '@stryker-mutator/instrumenter';
  const { Instrumenter } = await import(instrumenter);
  const files = filesWithMutants(root).map((file) => ({
    name: file,
    mutate: true,
    content: readFileSync(join(root, file), 'utf8'),
  }));
  const silent = { info: () => {}, debug: () => {}, isDebugEnabled: () => false };
  const options = { plugins: null, excludedMutations: [], ignorers: [] };
  /** @type {{ files: { name: string, content: string }[], mutants: StrykerMutant[] }} */
  const instrumented = await new Instrumenter(silent).instrument(files, options);
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  cpSync(join(root, 'lib'), join(copy, 'lib'), { recursive: true });
  for (const { name, content } of instrumented.files) writeFileSync(join(copy, name), content);
  const contents = new Map(files.map(({ name, content }) => [name, content]));
  return instrumented.mutants.map((mutant) => describe(mutant, contents.get(mutant.fileName) ?? ''));
}

/** @param {string} root */
function filesWithMutants(root) {
  return Object.keys(GOALS)
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (file) => `${folder}/${file}`,
      ),
    )
    .filter((file) => file.endsWith('.ts') && !LEFT_OUT.test(file))
    .toSorted();
}

/**
 * @param {StrykerMutant} mutant
 * @param {string} content
 * @returns {Mutant}
 */
function describe({ id, fileName, location: { start, end }, replacement }, content) {
  const lines = content.split('\n');
  const first = lines[start.line] ?? '';
  const rest = lines[end.line]?.slice(end.column) ?? '';
  return {
    id,
    file: fileName,
    folder: Object.keys(GOALS).find((folder) => fileName.startsWith(`${folder}/`)) ?? fileName,
    line: start.line + 1,
    before: onOneLine(lines.slice(start.line, end.line + 1).join('\n')),
    after: onOneLine(first.slice(0, start.column) + replacement + rest),
  };
}

/** @param {string} code */
function onOneLine(code) {
  const line = code.replaceAll(/\s+/gu, ' ').trim();
  return line.length > 240 ? `${line.slice(0, 240)}…` : line;
}

/**
 * Chooses mutants by their code, so that a change of other code hardly changes the choice.
 *
 * @param {readonly Mutant[]} mutants
 * @param {number} count
 * @param {string} seed
 */
export function sample(mutants, count, seed) {
  const rank = new Map(mutants.map((mutant) => [mutant, rankOf(mutant, seed)]));
  return mutants.toSorted((a, b) => ((rank.get(a) ?? '') < (rank.get(b) ?? '') ? -1 : 1)).slice(0, count);
}

/**
 * @param {Mutant} mutant
 * @param {string} seed
 */
function rankOf({ file, before, after }, seed) {
  return createHash('sha256').update([seed, file, before, after].join('\n')).digest('hex');
}
