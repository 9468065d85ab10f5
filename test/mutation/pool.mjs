// Processes that run specs; one that hangs or crashes is replaced.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Runs after which a process is replaced, before leftovers of mutants slow it down. */
const RUNS_OF_A_PROCESS = 25;

/**
 * @typedef {{ mutant?: string, tests: Record<string, string[] | null>, limit: number }} Task `limit` in ms
 * @typedef {{
 *   passed: boolean,
 *   ms: number,
 *   reached: import('./environment.cjs').Run['reached'],
 *   failure?: string,
 *   ended?: 'time limit' | 'crash',
 * }} Outcome
 */

/**
 * Runs all tasks, `workers` at a time.
 *
 * @template {Task} T
 * @param {string} copy
 * @param {number} workers
 * @param {readonly T[]} tasks
 * @param {(task: T, outcome: Outcome) => void} report
 */
export async function runTasks(copy, workers, tasks, report) {
  const open = [...tasks];
  const line = async () => {
    let runs = 0;
    let worker = startWorker(copy);
    for (let task = open.shift(); task; task = open.shift()) {
      let outcome = await runTask(worker, task);
      if (outcome.ended === 'crash') {
        // An earlier mutant may have left what crashed.
        worker = startWorker(copy);
        outcome = await runTask(worker, task);
      }
      report(task, outcome);
      runs += 1;
      if (!outcome.ended && runs % RUNS_OF_A_PROCESS !== 0) continue;
      stop(worker);
      worker = startWorker(copy);
    }
    stop(worker);
  };
  await Promise.all(Array.from({ length: workers }, line));
}

/** @param {string} copy */
function startWorker(copy) {
  return fork(fileURLToPath(new URL('worker.mjs', import.meta.url)), [copy], {
    // SIMULATION_SEED and CI: random schedules must not decide whether a mutant survives.
    env: { ...process.env, NODE_ENV: 'test', CI: 'true', SIMULATION_SEED: '1' },
    execArgv: ['--max-old-space-size=1500'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}

/** @param {import('node:child_process').ChildProcess} worker */
function stop(worker) {
  worker.kill('SIGKILL');
}

/**
 * @param {import('node:child_process').ChildProcess} worker
 * @param {Task} task
 * @returns {Promise<Outcome>}
 */
async function runTask(worker, { limit, ...wanted }) {
  const nothing = { passed: false, ms: limit, reached: {} };
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @type {Promise<Outcome>} */
  const outcome = new Promise((resolve) => {
    timer = setTimeout(() => resolve({ ...nothing, ended: 'time limit' }), limit);
    const crash = () => resolve({ ...nothing, ended: 'crash' });
    worker.once('message', (/** @type {any} */ reply) => resolve(reply));
    worker.once('exit', crash);
    worker.send(wanted, (error) => error && crash());
  });
  try {
    return await outcome;
  } finally {
    clearTimeout(timer);
    worker.removeAllListeners();
  }
}
