import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Runs until it is ended, or left behind. */
const SPIN = `
const parent = process.ppid;
while (process.ppid === parent) for (let i = 0; i < 1e7; i++);
`;

/**
 * Keeps processors from halting while something is measured, by work that gives way to any other at once (SCHED_IDLE).
 *
 * A virtual machine takes longer to wake a processor than Redis takes to grant a free name, and how much longer depends on
 * when it last was. Only Linux has such work; elsewhere, and without util-linux, processors halt as they do.
 */
export async function keepAwake<Result>(measure: () => Promise<Result>): Promise<Result> {
  const count = process.platform === 'linux' ? availableParallelism() : 0;
  const spinners = Array.from({ length: count }, () =>
    spawn('chrt', ['--idle', '0', process.execPath, '--eval', SPIN], { stdio: 'ignore' }),
  );
  for (const spinner of spinners) spinner.on('error', () => undefined);
  try {
    return await measure();
  } finally {
    for (const spinner of spinners) spinner.kill();
  }
}
