import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../support/free-port.js';
import { end, isRunning } from '../support/lifeline.js';
import { OutputTail } from '../support/output-tail.js';
import { spawnTypeScript } from '../support/typescript-process.js';
import { waitFor } from '../support/wait-for.js';

const SCRATCH = join(__dirname, '../../.cache/docs');

/**
 * Runs the source of a small application that listens on PORT and uses REDIS_URL, while `visit` visits it.
 */
export async function withApplication<T>(
  source: string,
  redisUrl: string,
  visit: (url: string) => Promise<T>,
): Promise<T> {
  await mkdir(SCRATCH, { recursive: true });
  const directory = await mkdtemp(join(SCRATCH, 'application-'));
  const output = new OutputTail();
  const port = await freePort();
  const file = join(directory, 'main.ts');
  await writeFile(file, source);
  const child = spawnTypeScript(file, [], { env: { PORT: String(port), REDIS_URL: redisUrl } });
  output.collect(child.stdout);
  output.collect(child.stderr);
  try {
    const url = `http://127.0.0.1:${port}`;
    const listensOrEnded = (): unknown => !isRunning(child) || fetch(url);
    await waitFor(listensOrEnded, { timeout: 60_000, interval: 50, that: 'the application to listen' }).catch(
      (cause: unknown) => {
        throw new Error(`The application did not start. It said:\n${output.toString()}`, { cause });
      },
    );
    if (!isRunning(child))
      throw new Error(`The application ended at its start. It said:\n${output.toString()}`);
    return await visit(url);
  } finally {
    await end(child, 'SIGTERM');
    await rm(directory, { recursive: true, force: true });
  }
}
