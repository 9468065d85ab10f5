import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { RedisServer } from '../support/redis-server.js';
import { type BenchOptions, parseOptions, USAGE } from './bench-options.js';
import type { Bench, BenchCase, CaseReport } from './bench.js';
import { againstCase } from './cases/against.case.js';
import { benchCases } from './cases/index.js';
import type { ContestantDefinition } from './contestant.js';
import { CONTESTANT_IDS, loadContestant } from './contestants.js';
import { PoolStock } from './load/pool-stock.js';
import { drawCharts } from './report/charts.js';
import { type Figures, withRun } from '../../tools/figures/figures.mjs';
import { publishedFigures } from './report/published-figures.js';
import { caseText } from './report/tables.js';

const CHARTS = join(__dirname, 'charts');
const FIGURES = join(__dirname, 'figures.json');

async function main(): Promise<void> {
  const options = parseOptions(
    process.argv.slice(2),
    benchCases.map(({ name }) => name),
  );
  if (options.help) {
    console.log(`${USAGE}\n\nCases: ${benchCases.map(({ name }) => name).join(', ')}`);
    return;
  }
  const contestants = new Map<string, ContestantDefinition | Error>();
  for (const id of options.only) {
    contestants.set(
      id,
      await loadContestant(id).catch((error: unknown) =>
        error instanceof Error ? error : new Error(String(error)),
      ),
    );
  }
  await using server = await RedisServer.start({ config: { save: '""', appendonly: 'no' } });
  await using pools = new PoolStock();
  const bench: Bench = { ...options, server, pools, contestants, say: (line) => console.error(line) };
  const machine = await describeMachine(server);
  console.log(machine.join('\n'));
  for (const [id, definition] of contestants) console.log(describeContestant(id, definition));

  const reports: CaseReport[] = [];
  for (const benchCase of casesOf(options)) {
    const found = await benchCase.run(bench);
    // A short round says nothing about time.
    const report = options.quick ? { ...found, goals: found.goals.filter(({ isCount }) => isCount) } : found;
    reports.push(report);
    console.log(caseText(report));
  }
  if (options.json !== undefined) {
    writeFileSync(options.json, `${JSON.stringify({ machine, options, reports }, undefined, 2)}\n`);
  }
  // A part of the contestants, or a short round, must not replace the charts of a whole run.
  if (!options.quick && options.only.length === CONTESTANT_IDS.length) {
    for (const file of drawCharts(reports, CHARTS)) console.log(`Drew ${relative(process.cwd(), file)}`);
    const run = publishedFigures(reports, {
      redis: await redisVersion(server),
      ioredis: versionOf('ioredis'),
    });
    if (run !== undefined) {
      const figures = withRun(JSON.parse(readFileSync(FIGURES, 'utf8')) as Figures, run);
      writeFileSync(FIGURES, `${JSON.stringify(figures, undefined, 2)}\n`);
      execFileSync(process.execPath, [join(__dirname, '../../tools/figures/write.mjs')]);
      console.log('Wrote test/bench/figures.json, and the pages that tell them');
    }
  }
  const broken = reports.flatMap(({ name, goals }) =>
    goals
      .filter(({ isCount, met }) => isCount && !met)
      .map(({ text, measured }) => `${name}: ${text}: ${measured}`),
  );
  if (options.quick && broken.length > 0) {
    console.error(`\nCounts that must hold on any machine do not:\n${broken.join('\n')}`);
    process.exitCode = 1;
  }
}

function casesOf({ against, cases, quick }: BenchOptions): readonly BenchCase[] {
  if (against !== undefined) return [againstCase(against)];
  return benchCases.filter(({ name, isQuick }) =>
    cases.length === 0 ? !quick || isQuick : cases.includes(name),
  );
}

async function describeMachine(server: RedisServer): Promise<string[]> {
  const redis = await redisVersion(server);
  const [cpu] = cpus();
  return [
    `${cpus().length} × ${cpu?.model ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}`,
    `Node ${process.versions.node}, Redis ${redis}, ioredis ${versionOf('ioredis')}`,
  ];
}

async function redisVersion(server: RedisServer): Promise<string> {
  const client = server.client();
  const version = /redis_version:(\S+)/.exec(await client.info('server'))?.[1];
  client.disconnect();
  return version ?? 'unknown';
}

function describeContestant(id: string, definition: ContestantDefinition | Error): string {
  if (definition instanceof Error) return `${id}: could not be loaded: ${definition.message}`;
  const version = definition.package === undefined ? '' : ` ${versionOf(definition.package)}`;
  return `${id}${version}: ${definition.settings}`;
}

/** From its package.json, wherever that is: some packages do not export it. */
function versionOf(name: string): string {
  let directory = dirname(require.resolve(name));
  for (;;) {
    try {
      const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
        name?: string;
        version?: string;
      };
      if (manifest.name === name && manifest.version !== undefined) return manifest.version;
    } catch {
      // Not the package's own directory yet.
    }
    if (dirname(directory) === directory) return 'of unknown version';
    directory = dirname(directory);
  }
}

// The processes of the test support do not keep the process alive that started them.
const alive = setInterval(() => {}, 60_000);
void main()
  .catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  })
  .finally(() => clearInterval(alive));
