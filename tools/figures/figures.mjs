import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Medians of the rounds of one whole run: holds a second, and for `hot-4x25-2ms` the 99th percentile of the wait in
 * milliseconds. `best` is the best other package, `byHand` is SET NX PX, `ideal` is 100 holds one after the other.
 *
 * @typedef {{ ours: number; best: number; byHand?: number; ideal?: number }} CaseFigures
 *
 * A goal, and the median of the rounds with their range.
 *
 * @typedef {{ case: string; text: string; measured: string; met: boolean }} GoalFigures
 *
 * One whole run.
 *
 * @typedef {object} Run
 * @property {string} date
 * @property {string} commit that was measured
 * @property {{ cores: number; cpu: string; node: string; redis: string; ioredis: string }} machine
 * @property {number} rounds
 * @property {{ 'hot-4x25': CaseFigures; 'hot-4x25-2ms': CaseFigures; 'free-256': CaseFigures; 'semaphore-4x25': CaseFigures }} cases
 * @property {GoalFigures[]} goals
 *
 * All runs, that with the newest Node first: the pages tell its figures.
 *
 * @typedef {object} Figures
 * @property {[Run, ...Run[]]} runs one for each pair of a Node and a Redis
 * @property {{ cpu: string; ratio: number }} [elsewhere] an earlier run on another processor, with a lower ratio for `hot-4x25`
 */

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The pages that tell figures. */
export const PAGES = [
  'README.md',
  'README.zh-CN.md',
  'docs/index.md',
  'docs/zh-CN/index.md',
  'docs/compare.md',
  'test/bench/README.md',
];
const REGION = /(<!-- figures: ([\w-]+) -->\n)[^]*?(\n<!-- end -->)/g;

/** @param {number | undefined} value */
const number = (value) => value?.toLocaleString('en') ?? '–';
/** @param {number | undefined} value */
const ms = (value) => (value === undefined ? '–' : `${number(value)} ms`);

/** @returns {Figures} */
export function readFigures() {
  return JSON.parse(readFileSync(join(root, 'test/bench/figures.json'), 'utf8'));
}

/**
 * Node and Redis of a run, to their releases.
 *
 * @param {Run} run
 */
const environmentOf = ({ machine: { node, redis } }) =>
  `Node ${node.split('.')[0]}, Redis ${redis.split('.').slice(0, 2).join('.')}`;

/**
 * Figures with a new run, in place of the earlier one on the same Node and Redis.
 *
 * @param {Figures} figures
 * @param {Run} run
 * @returns {Figures}
 */
export function withRun({ runs, ...figures }, run) {
  const others = runs.filter((each) => environmentOf(each) !== environmentOf(run));
  const [newest = run, ...rest] = [run, ...others].toSorted(
    (a, b) => parseFloat(b.machine.node) - parseFloat(a.machine.node),
  );
  return { ...figures, runs: [newest, ...rest] };
}

/**
 * What a run says of the goal of a row.
 *
 * @param {Run} run
 * @param {string} row
 */
function cell({ goals }, row) {
  const goal = goals.find((each) => `${each.case} | ${each.text}` === row);
  if (goal === undefined) return '–';
  return goal.met ? goal.measured : `**missed:** ${goal.measured}`;
}

/**
 * The goals of all runs, a row for each goal.
 *
 * @param {Figures} figures
 */
function goalsOf({ runs }) {
  const rows = [...new Set(runs.flatMap(({ goals }) => goals.map((goal) => `${goal.case} | ${goal.text}`)))];
  return [
    ...runs.map(
      (run) =>
        `- ${environmentOf(run)}: ${run.date}, commit \`${run.commit.slice(0, 8)}\`, ${run.machine.cores} × ${run.machine.cpu}, ` +
        `medians and ranges of ${run.rounds} rounds; ${run.goals.filter(({ met }) => met).length} of ${run.goals.length} goals met.`,
    ),
    '',
    `| case | goal | ${runs.map(environmentOf).join(' | ')} |`,
    `| --- | --- | ${runs.map(() => '---').join(' | ')} |`,
    ...rows.map((row) => `| ${row} | ${runs.map((run) => cell(run, row)).join(' | ')} |`),
  ].join('\n');
}

/**
 * @param {Figures} figures
 * @returns {Readonly<Record<string, string>>} the text of each region
 */
export function textsOf(figures) {
  const { date, commit, machine, rounds, cases } = figures.runs[0];
  const { elsewhere } = figures;
  const wait = cases['hot-4x25-2ms'];
  const row = (/** @type {string} */ name, /** @type {CaseFigures} */ { ours, best, byHand }) =>
    `| ${name} | ${number(ours)} | ${number(best)} | ${number(byHand)} |`;
  const { cores, cpu, node, redis, ioredis } = machine;
  return {
    headline:
      `When 100 callers share one lock for 2 ms of work each, 99 % of them wait at most ${ms(wait.ours)};\n` +
      `with the best other package it is ${ms(wait.best)} ([speed](docs/compare.md#speed)).`,
    'headline-zh':
      `100 个调用者争用同一把锁、每次业务 2 毫秒时，99% 的等待不超过 ${number(wait.ours)} 毫秒；` +
      `其他包中最快的是 ${number(wait.best)} 毫秒（[测试数据](docs/compare.md#speed)）。`,
    home:
      `### ${ms(wait.best)} → ${ms(wait.ours)}\n\n100 callers share one lock for 2 ms of work each: 99 % wait at most ${ms(wait.ours)} here,\n` +
      `${ms(wait.best)} with the best other package. [Compare](compare.md#speed)`,
    'home-zh':
      `### ${number(wait.best)} → ${number(wait.ours)} 毫秒\n\n100 个调用者争用同一把锁、每次业务 2 毫秒：99% 的等待不超过 ${number(wait.ours)} 毫秒，` +
      `其他包中最快的是 ${number(wait.best)} 毫秒，见[对比](../compare.md#speed)。`,
    speed: [
      `Measured on ${date} at commit \`${commit.slice(0, 8)}\`, on ${cores} cores of an ${cpu}, with Node ${node}, Redis ${redis} and`,
      `ioredis ${ioredis}. Figures are medians of ${rounds} rounds.`,
      '',
      '| case | here | best other package | SET NX PX by hand |',
      '| --- | --- | --- | --- |',
      `| one hot name with 2 ms of work, 4 processes × 25 callers, 99th percentile of waits | ${ms(wait.ours)} (ideal: ${number(wait.ideal)}) | ${ms(wait.best)} | ${ms(wait.byHand)} |`,
      row('the same without work, holds/s', cases['hot-4x25']),
      row('free names, 256 callers, holds/s, with fencing tokens', cases['free-256']),
      row('a name with 10 permits, 4 × 25 callers, without work, holds/s', cases['semaphore-4x25']),
      ...(elsewhere
        ? [
            '',
            `On ${elsewhere.cpu}, this module had ${elsewhere.ratio} times the rate of the best other package without work.`,
          ]
        : []),
    ].join('\n'),
    goals: goalsOf(figures),
  };
}

/**
 * A page with these figures in its regions; prettier has yet to break its lines.
 *
 * @param {string} page
 * @param {Figures} figures
 * @throws Error when a region has a name that no text has
 */
export function withFigures(page, figures) {
  const texts = textsOf(figures);
  return page.replaceAll(REGION, (_region, begin, name, end) => {
    if (!(name in texts)) throw new Error(`There is no text of figures named ${name}.`);
    return `${begin}\n${texts[name]}\n${end}`;
  });
}
