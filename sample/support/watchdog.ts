import { type ChildProcess, spawn } from 'node:child_process';

/**
 * SIGCONT, because one that is frozen would not hear of SIGTERM, and again and again, because it may be about to freeze; five
 * seconds to shut down, and no longer.
 */
const END = 'kill -TERM $1; for _ in 1 2 3 4 5; do kill -CONT $1 || exit; sleep 1; done; kill -KILL $1';

/**
 * Ends a process as soon as this one has ended, however it ended.
 *
 * A shell waits at a pipe that the operating system closes with this process.
 */
export function endWithThisProcess(child: ChildProcess): void {
  if (child.pid === undefined) return;
  const watchdog = spawn('sh', ['-c', `read -r _ || { ${END}; }`, 'sh', String(child.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // At once, because the system may give the process id of a dead process to somebody else.
  child.once('exit', () => watchdog.stdin?.end('ended\n'));
}
