// Runs the suites on every server that is tried: node test/servers/run.mjs [option]...
//
// --short         contract and scripts only, each server alone, but that of `npm test`
// --only TEXT     only combinations with this in their names, such as `Valkey 9`
// --program FILE  tries only this server program, with every suite
// --write         writes the table into docs/servers.md; with --only the rows that were tried again
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { tableIn, writeIntoPage } from '../../tools/page.mjs';
import { thisSystem } from '../../tools/setup/system.mjs';
import { eachServer, wholeMatrix } from './combinations.mjs';
import { runJest } from './jest-run.mjs';
import { matrix, withRows } from './matrix.mjs';
import { namedServer, othersThanHere, provideServers } from './servers.mjs';
import { RUNS } from './suites.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const cache = join(root, '.cache/servers');

const { values: asked } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    only: { type: 'string' },
    program: { type: 'string', multiple: true },
  },
});
if (asked.write && (asked.short || asked.program)) {
  throw new Error('--write takes whole rows of the matrix only');
}

const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => interruption.abort());

/** @param {import('./combinations.mjs').Combination} combination */
async function tryOut({ name, env, runs }) {
  /** @type {import('./suite-results.mjs').SuiteResult[]} */
  const results = [];
  for (const run of runs) {
    const begin = performance.now();
    const log = join(cache, 'logs', `${name} ${runs.indexOf(run)}.log`.replaceAll(/[^\w.]+/g, '-'));
    const found = await runJest(run, { root, env, log, signal: interruption.signal });
    const seconds = ((performance.now() - begin) / 1_000).toFixed(0);
    for (const { suite, passed, failures } of found) {
      console.log(`${failures.length === 0 ? 'ok    ' : 'FAILED'} ${name} | ${suite}: ${passed} passed`);
      for (const failure of failures) {
        console.log(`${failure.name}\n${failure.message}`.replaceAll(/^/gm, '       '));
      }
    }
    console.log(`       ${seconds} s; what Jest said is in ${log.slice(root.length)}`);
    results.push(...found);
  }
  return { name, results };
}

function combinations() {
  const system = thisSystem(root);
  if (asked.program) {
    const servers = asked.program.map((program) => namedServer(program, system));
    return eachServer(servers, [RUNS.oneServer, RUNS.topology, RUNS.quorum]);
  }
  if (!asked.short) return wholeMatrix(provideServers(cache, system));
  return eachServer(provideServers(cache, system, othersThanHere(system)), [RUNS.short]);
}

function versions() {
  const require = createRequire(import.meta.url);
  const { version } = require('ioredis/package.json');
  return `Node ${process.versions.node} and ioredis ${version}`;
}

/** @type {import('./matrix.mjs').Row[]} */
const rows = [];
const begin = performance.now();
for (const combination of combinations()) {
  if (!combination.name.includes(asked.only ?? '')) continue;
  if ('missing' in combination) console.log(`NOT TRIED ${combination.name}: ${combination.missing}`);
  rows.push('missing' in combination ? combination : await tryOut(combination));
}

const table = matrix(rows);
console.log(`\n${table}\n`);
const failed = rows.filter(
  (row) => 'results' in row && row.results.some(({ failures }) => failures.length > 0),
);
const missing = rows.filter((row) => 'missing' in row);
const minutes = ((performance.now() - begin) / 60_000).toFixed(1);
console.log(
  `${rows.length - failed.length - missing.length} of ${rows.length} combinations hold, ` +
    `${missing.length} not tried (${minutes} min)`,
);
if (asked.write) {
  const page = join(root, 'docs/servers.md');
  const commit = execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], {
    cwd: root,
    encoding: 'utf8',
  }).trim();
  const date = new Date().toISOString().slice(0, 10);
  const tried = `on ${date} at commit \`${commit}\` with ${versions()}`;
  const known = readFileSync(page, 'utf8');
  const [told] = /^Tried [^;:]+/m.exec(known) ?? [];
  // The other rows keep their date and commit.
  const text = asked.only
    ? `${told}; ${rows.length} of these rows again ${tried}:\n\n${withRows(tableIn(page, 'test:servers'), table)}`
    : `Tried ${tried}:\n\n${table}`;
  await writeIntoPage(page, 'test:servers', text);
}
// The short form also runs where these servers cannot be had; what it left out is told above.
if (failed.length > 0 || (missing.length > 0 && !asked.short)) process.exitCode = 1;
