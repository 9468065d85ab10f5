import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import type { BenchCase, Goal } from '../bench.js';
import { spread } from '../report/format.js';
import { type Spread, spreadOf } from '../statistics/spread.js';

/** From here Node finds the package by its own name. */
const ROOT = resolve(__dirname, '../../..');
const PROCESSES = 20;
const AT_MOST = 10;

/**
 * As many of V8's background threads as there are processors besides that of the program. By itself Node starts four, and
 * on two processors those, still compiling what loading the peers has made hot, take turns with what is measured here.
 */
const NO_MORE_THREADS_THAN_PROCESSORS = ['--v8-pool-size=0'];

/** What users have loaded anyway, as the package imports it. */
const PEERS = [
  'reflect-metadata',
  'rxjs',
  'ioredis',
  '@nestjs/common',
  '@nestjs/common/constants.js',
  '@nestjs/core',
];

const importing = { type: 'module', load: (name: string) => `await import('${name}');` };
const requiring = { type: 'commonjs', load: (name: string) => `require('${name}');` };

const WAYS = [
  { name: 'import', ...importing, options: NO_MORE_THREADS_THAN_PROCESSORS, isGoal: true },
  { name: 'require', ...requiring, options: NO_MORE_THREADS_THAN_PROCESSORS, isGoal: true },
  { name: 'import, four threads of V8', ...importing, options: [], isGoal: false },
  { name: 'require, four threads of V8', ...requiring, options: [], isGoal: false },
];

/** How long it takes to load the package, of which an application with many processes pays for each. */
export const loadCase: BenchCase = {
  name: 'load',
  isQuick: false,
  async run(bench) {
    const times = WAYS.map((way) => ({ way, found: [] as number[] }));
    for (let process = 1; process <= PROCESSES; process++) {
      bench.say(`load: processes ${process} of ${PROCESSES}`);
      for (const { way, found } of times) found.push(loadTime(way));
    }
    const spreads = times.map(({ way, found }) => ({ ...way, time: spreadOf(found) }));
    return {
      name: 'load',
      title: `Loading the package in a new process, after its peers: median and range of ${PROCESSES} processes`,
      notes: [`Peers, loaded before: ${PEERS.join(', ')}.`],
      head: ['', 'ms'],
      rows: spreads.map(({ name, time }) => [name, spread(time, (value) => value.toFixed(1))]),
      goals: spreads.filter(({ isGoal }) => isGoal).map(({ name, time }) => goal(name, time)),
      figures: Object.fromEntries(times.map(({ way, found }) => [way.name, found])),
    };
  },
};

function loadTime({ type, load, options }: (typeof WAYS)[number]): number {
  const program = [
    ...PEERS.map(load),
    'const begin = performance.now();',
    load('nest-redis-lock'),
    'console.log(performance.now() - begin);',
  ];
  const output = execFileSync(
    process.execPath,
    [...options, `--input-type=${type}`, '--eval', program.join('\n')],
    {
      cwd: ROOT,
      encoding: 'utf8',
      // What this process was started with is no part of what is measured.
      env: { ...process.env, NODE_OPTIONS: '' },
    },
  );
  return Number(output);
}

function goal(way: string, time: Spread | undefined): Goal {
  return {
    text: `${way}: at most ${AT_MOST} ms`,
    measured: `${spread(time, (value) => value.toFixed(1))} ms`,
    met: (time?.median ?? NaN) <= AT_MOST,
  };
}
