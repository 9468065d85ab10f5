import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { end } from '../../support/lifeline.js';
import { spawnTypeScript } from '../../support/typescript-process.js';
import { waitFor } from '../../support/wait-for.js';

interface Orphans {
  readonly pids: readonly number[];
  readonly directory: string;
}

describe('what the test support starts', () => {
  it.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
    'ends with the process that started it, when that gets %s',
    async (signal) => {
      const parent = spawnTypeScript(join(__dirname, 'fixtures/orphans.ts'));
      if (!parent.stdout) throw new Error('The parent has no output to read');
      const [line] = (await once(createInterface(parent.stdout), 'line')) as [string];
      const { pids, directory } = JSON.parse(line) as Orphans;
      expect(pids.filter(isAlive)).toHaveLength(3);

      await end(parent, signal);

      await waitFor(() => !pids.some(isAlive), { that: 'servers and workers, frozen ones included, to end' });
      await waitFor(() => !existsSync(directory), { that: 'the directory to be removed' });
    },
  );
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch {
    return false;
  }
}

/** Has ended, though the first process of a container may never ask how. */
function isZombie(pid: number): boolean {
  const status = `/proc/${pid}/stat`;
  return existsSync(status) && / Z /.test(readFileSync(status, 'utf8'));
}
