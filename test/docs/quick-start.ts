import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../support/free-port.js';
import { end, isRunning, spawnWithLifeline } from '../support/lifeline.js';
import { OutputTail } from '../support/output-tail.js';
import { packed } from '../support/packed-package.js';
import { waitFor } from '../support/wait-for.js';

const ROOT = join(__dirname, '../..');

/** Runs one instance of {@link withInstances}. */
export function withApplication<T>(
  source: string | Readonly<Record<string, string>>,
  redisUrl: string,
  visit: (url: string) => Promise<T>,
): Promise<T> {
  return withInstances(1, source, redisUrl, ([url = '']) => visit(url));
}

/**
 * Runs processes of a small application, which listen on PORT and use REDIS_URL, while `visit` visits them.
 *
 * `source` is its `main.ts`, or all its files by name. The application has the packed package, and the other packages of this repository.
 */
export async function withInstances<T>(
  count: number,
  source: string | Readonly<Record<string, string>>,
  redisUrl: string,
  visit: (urls: readonly string[]) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(packed.application, 'application-'));
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'), 'dir');
  const sources = typeof source === 'string' ? { 'main.ts': source } : source;
  await Promise.all(Object.entries(sources).map(([name, text]) => writeFile(join(directory, name), text)));
  const instances: Instance[] = [];
  try {
    while (instances.length < count)
      instances.push(await startInstance(join(directory, 'main.ts'), redisUrl));
    return await visit(instances.map(({ url }) => url));
  } finally {
    await Promise.all(instances.map((each) => each.stop()));
    await rm(directory, { recursive: true, force: true });
  }
}

interface Instance {
  readonly url: string;
  stop(): Promise<void>;
}

async function startInstance(file: string, redisUrl: string): Promise<Instance> {
  const output = new OutputTail();
  const port = await freePort();
  const compiler = ['--require', join(ROOT, 'tools/typescript.hook.cjs')];
  const child = spawnWithLifeline(process.execPath, [...compiler, file], {
    env: { ...process.env, PORT: String(port), REDIS_URL: redisUrl },
  });
  output.collect(child.stdout);
  output.collect(child.stderr);
  const url = `http://127.0.0.1:${port}`;
  const listensOrEnded = (): unknown => !isRunning(child) || fetch(url);
  try {
    await waitFor(listensOrEnded, { timeout: 60_000, interval: 50, that: 'the application to listen' });
    if (!isRunning(child)) throw new Error('It ended at its start.');
  } catch (cause) {
    await end(child, 'SIGTERM');
    throw new Error(`The application did not start. It said:\n${output.toString()}`, { cause });
  }
  return { url, stop: () => end(child, 'SIGTERM') };
}
