import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../support/free-port.js';
import { end, isRunning, spawnWithLifeline } from '../support/lifeline.js';
import { OutputTail } from '../support/output-tail.js';
import { packed } from '../support/packed-package.js';
import { waitFor } from '../support/wait-for.js';

const ROOT = join(__dirname, '../..');

/**
 * Runs a small application, which listens on PORT and uses REDIS_URL, while `visit` visits it.
 *
 * `source` is its `main.ts`, or all its files by name. The application has the packed package, and the other packages of this repository.
 */
export async function withApplication<T>(
  source: string | Readonly<Record<string, string>>,
  redisUrl: string,
  visit: (url: string) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(packed.application, 'application-'));
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'), 'dir');
  const output = new OutputTail();
  const port = await freePort();
  const file = join(directory, 'main.ts');
  const sources = typeof source === 'string' ? { 'main.ts': source } : source;
  await Promise.all(Object.entries(sources).map(([name, text]) => writeFile(join(directory, name), text)));
  const compiler = ['--require', join(ROOT, 'tools/typescript.hook.cjs')];
  const child = spawnWithLifeline(process.execPath, [...compiler, file], {
    env: { ...process.env, PORT: String(port), REDIS_URL: redisUrl },
  });
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
