// Changes lib in small ways and checks that a test fails: npm run test:mutation -- [option]...
//
// --mutants N   how many mutants; without it, all
// --seed TEXT   which ones
// --in PATHS    only in these folders or files of lib, separated by commas
// --suites RE   only the suites whose path matches
// --workers N   processes at a time, 2 without it
// --seconds N   of tests for a mutant, 20 without it; it survives if none of them fails
// --score N     percent that must be killed in all; without it, each folder has its goal
//
// Fails if fewer are killed.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { GOALS, sample, writeMutants } from './mutants.mjs';
import { runTasks } from './pool.mjs';
import { isEnough, scoresOf, tableOf } from './score.mjs';
import { SUITES } from './suites.mjs';

/**
 * @typedef {import('./mutants.mjs').Mutant} Mutant
 * @typedef {import('./score.mjs').Verdict} Verdict
 * @typedef {{ ms: number, tests: import('./environment.cjs').Run['reached'] }} Reach what a spec reaches
 */

const root = fileURLToPath(new URL('../..', import.meta.url));
const copy = join(root, '.cache/mutation');

const { values: asked } = parseArgs({
  options: {
    mutants: { type: 'string' },
    seed: { type: 'string', default: '1' },
    in: { type: 'string', default: 'lib/' },
    suites: { type: 'string', default: '' },
    workers: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '20' },
    score: { type: 'string' },
  },
});
const workers = Number(asked.workers);
const msForMutant = 1_000 * Number(asked.seconds);

const all = await writeMutants(root, copy);
const places = asked.in.split(',');
const candidates = all.filter(({ file }) => places.some((place) => file.startsWith(place)));
const chosen = sample(candidates, Number(asked.mutants ?? candidates.length), asked.seed);
say(`${all.length} mutants, ${chosen.length} of them chosen with seed ${asked.seed}`);

/** @type {{ file: string, before: string, after: string, reason: string }[]} */
const equivalents = JSON.parse(readFileSync(new URL('equivalent.json', import.meta.url), 'utf8'));
const stale = equivalents.filter((listed) => !all.some((mutant) => isListed(listed, mutant)));
for (const { file, before } of stale)
  say(`equivalent.json lists a mutant that no longer exists: ${file}: ${before}`);

const reach = await findReach();
const mutantOf = new Map(all.map((mutant) => [mutant.id, mutant]));
const testsOf = findTests();
const verdicts = await runMutants();
const rows = scoresOf(
  [...verdicts].map(([{ folder }, verdict]) => ({ folder, verdict })),
  GOALS,
);
say(`\n${tableOf(rows)}`);
if (!isEnough(rows, asked.score === undefined ? undefined : Number(asked.score))) process.exitCode = 1;

/**
 * @param {Pick<Mutant, 'file' | 'before' | 'after'>} listed
 * @param {Mutant} mutant
 */
function isListed(listed, mutant) {
  return listed.file === mutant.file && listed.before === mutant.before && listed.after === mutant.after;
}

/**
 * Runs each spec without a mutant, unless a run on the same code has done so.
 *
 * @returns {Promise<Map<string, Reach>>}
 */
async function findReach() {
  const known = join(root, '.cache/mutation-reach.json');
  /** @type {Record<string, Reach>} */
  const earlier = existsSync(known) ? JSON.parse(readFileSync(known, 'utf8')) : {};
  const folders = new Set(SUITES.map((suite) => suite.split('/').slice(0, 2).join('/')));
  // Also the mutants: their numbers change when the choice of files or the instrumenter does.
  const texts = ['lib', 'test/support', ...folders].flatMap(sharedTextsOf);
  const code = hash([...texts, JSON.stringify(all)].join('\n'));
  const specs = SUITES.flatMap((suite) => specsOf(suite)).filter((spec) =>
    new RegExp(asked.suites, 'u').test(spec),
  );
  const keys = new Map(
    specs.map((spec) => [spec, hash(`${code}\n${spec}\n${readFileSync(join(root, spec), 'utf8')}`)]),
  );
  const tasks = specs
    .filter((spec) => !earlier[keys.get(spec) ?? ''])
    .map((spec) => ({ spec, tests: { [join(root, spec)]: null }, limit: 120_000 }));
  const began = performance.now();
  await runTasks(copy, workers, tasks, ({ spec }, { passed, ms, reached, failure, ended }) => {
    if (passed) earlier[keys.get(spec) ?? ''] = { ms, tests: reached };
    else
      say(
        `Left out, because it fails without a mutant (${ended ?? 'a test failed'}): ${spec}\n${failure ?? ''}`,
      );
  });
  mkdirSync(dirname(known), { recursive: true });
  /** @type {Map<string, Reach>} */
  const found = new Map();
  for (const [spec, key] of keys) if (earlier[key]) found.set(join(root, spec), earlier[key]);
  writeFileSync(known, JSON.stringify(earlier));
  say(`${tasks.length} of ${specs.length} specs ran without a mutant in ${secondsSince(began)} s`);
  return found;
}

/** @param {string} folder whose sources are read, except for specs */
function sharedTextsOf(folder) {
  return filesIn(folder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .map((file) => readFileSync(join(root, file), 'utf8'));
}

/** @param {string} suite a spec, or a folder with its folders */
function specsOf(suite) {
  if (suite.endsWith('.ts')) return [suite];
  return filesIn(suite).filter((file) => file.endsWith('.spec.ts') && !file.endsWith('.long.spec.ts'));
}

/** @param {string} folder */
function filesIn(folder) {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return files.map((file) => `${folder}/${file}`);
}

async function runMutants() {
  /** @type {Map<Mutant, Verdict>} */
  const results = new Map();
  const note = (/** @type {Mutant} */ mutant, /** @type {Verdict} */ verdict) => {
    results.set(mutant, verdict);
    const { file, line, before, after } = mutant;
    if (verdict === 'survived' || verdict === 'not reached')
      say(`\n${verdict}: ${file}:${line}\n- ${before}\n+ ${after}`);
  };
  const tasks = [];
  for (const mutant of chosen) {
    const task = taskOf(mutant);
    if (equivalents.some((listed) => isListed(listed, mutant))) note(mutant, 'equivalent');
    else if (task) tasks.push({ ...task, mutant: mutant.id, subject: mutant });
    else note(mutant, 'not reached');
  }
  const began = performance.now();
  await runTasks(copy, workers, tasks, ({ subject }, { passed }) => {
    note(subject, passed ? 'survived' : 'killed');
  });
  say(`\n${tasks.length} mutants ran in ${secondsSince(began)} s`);
  return results;
}

/**
 * @typedef {{ spec: string, name: string, ms: number, load: number, reached: Map<string, Mutant[]> }} Test `load` is the
 *   time that its spec takes without tests
 */

/**
 * The tests that reach each mutant. Code outside of tests, such as hooks, counts for all tests of its spec.
 *
 * @returns {Map<string, Test[]>}
 */
function findTests() {
  /** @type {Map<string, Test[]>} */
  const found = new Map(all.map(({ id }) => [id, []]));
  for (const [spec, { ms, tests }] of reach) {
    const { '': outside, ...inside } = tests;
    const load = ms - Object.values(inside).reduce((sum, test) => sum + test.ms, 0);
    for (const [name, test] of Object.entries(inside)) {
      const reached = byFile([...new Set([...test.mutants, ...(outside?.mutants ?? [])])]);
      const each = { spec, name, ms: test.ms, load, reached };
      for (const { id } of [...reached.values()].flat()) found.get(id)?.push(each);
    }
  }
  return found;
}

/** @param {readonly string[]} ids of mutants */
function byFile(ids) {
  /** @type {Map<string, Mutant[]>} */
  const mutants = new Map();
  for (const mutant of ids.flatMap((id) => mutantOf.get(id) ?? [])) {
    const ofFile = mutants.get(mutant.file);
    if (ofFile) ofFile.push(mutant);
    else mutants.set(mutant.file, [mutant]);
  }
  return mutants;
}

/**
 * The tests that run for a mutant. Half of their time belongs to those that are most about its line, and the cheapest
 * fill the rest. Otherwise many cheap tests that only pass the mutant would leave out the slower one that is made for
 * it.
 *
 * @param {Mutant} mutant
 */
function taskOf(mutant) {
  const reaching = testsOf.get(mutant.id) ?? [];
  /** @type {Map<string, number>} */
  const ofSpec = new Map();
  for (const { spec } of reaching) ofSpec.set(spec, (ofSpec.get(spec) ?? 0) + 1);
  const price = (/** @type {Test} */ { spec, ms, load }) => ms + load / (ofSpec.get(spec) ?? 1);
  const cheapest = reaching.toSorted((a, b) => price(a) - price(b));
  const [first] = cheapest;
  if (!first) return undefined;
  /** @type {Map<string, string[]>} */
  const taken = new Map();
  let expected = 0;
  const take = (/** @type {readonly Test[]} */ from, /** @type {number} */ most) => {
    for (const { spec, name, ms, load } of from) {
      const names = taken.get(spec);
      const cost = names ? ms : ms + load;
      if (names?.includes(name) || expected + cost > most) continue;
      taken.set(spec, [...(names ?? []), name]);
      expected += cost;
    }
  };
  const weights = new Map(reaching.map((test) => [test, weightOf(test, mutant)]));
  take([first], Infinity);
  take(
    reaching.toSorted((a, b) => (weights.get(b) ?? 0) - (weights.get(a) ?? 0)),
    msForMutant / 2,
  );
  take(cheapest, msForMutant);
  return { tests: Object.fromEntries(taken), limit: 15_000 + 3 * expected };
}

/**
 * How much a test is about the line of a mutant: it reaches code nearby that few other tests reach, such as the branch
 * behind a condition that all of them pass. All tests reach code that runs when a module is loaded, such as the text of
 * a script: the names of the specs tell which are about it.
 *
 * @param {Test} test
 * @param {Mutant} mutant
 */
function weightOf({ spec, reached }, { file, line }) {
  const nearby = reached.get(file) ?? [];
  const words = wordsOf(relative(root, spec));
  const common = wordsOf(file).filter((word) => words.includes(word)).length;
  return nearby.reduce(
    (sum, other) =>
      sum + (1 + common) / (testsOf.get(other.id) ?? []).length / (1 + Math.abs(other.line - line)),
    0,
  );
}

/** @param {string} path */
function wordsOf(path) {
  return path.split(/[^a-z]+/u);
}

/** @param {string} text */
function say(text) {
  process.stdout.write(`${text}\n`);
}

/** @param {string} text */
function hash(text) {
  return createHash('sha256').update(text).digest('hex');
}

/** @param {number} began */
function secondsSince(began) {
  return Math.round((performance.now() - began) / 1000);
}
