import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Kills a process as soon as this one has ended, however it ended.
 *
 * A shell waits at a pipe that the operating system closes with this process. SIGKILL also ends a process that is
 * frozen, which would not hear of it in any other way.
 */
export function endWithThisProcess(child: ChildProcess): void {
  if (child.pid === undefined) return;
  const watchdog = spawn('sh', ['-c', 'read -r _ || kill -s KILL "$1"', 'sh', String(child.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // At once, because the system may give the process id of a dead process to somebody else.
  child.once('exit', () => watchdog.stdin?.end('ended\n'));
}
