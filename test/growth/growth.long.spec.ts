import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startWorker } from '../support/worker.js';
import type { AwaitCalls } from './awaits.worker.js';
import type { Application, RequestCalls } from './requests.worker.js';
import type { RunCalls } from './runs.worker.js';

const CACHE = join(__dirname, '../../.cache');
const LIMIT = 200;
const ROUNDS = 5;
/** The bytes of the Map that Node 24 creates for each run of an AsyncLocalStorage, and that each timer keeps. */
const FRAME: Readonly<Record<string, number>> = { 20: 0, 24: 184 };

/** Installs a version of Node from npm. */
async function installNode(version: string): Promise<string> {
  const directory = join(CACHE, `node-${version}`);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'package.json'), JSON.stringify({ private: true }));
  const flags = ['--prefer-offline', '--no-audit', '--no-fund'];
  await promisify(execFile)('npm', ['install', ...flags, `node@${version}`], { cwd: directory });
  return join(directory, 'node_modules/.bin/node');
}

const VERSIONS = (process.env.GROWTH_NODES ?? '20 24').split(' ');

describe.each(VERSIONS)('On Node %s', (version) => {
  let node: string;

  beforeAll(async () => {
    node = await installNode(version);
  }, 300_000);

  async function bytes(application: Application, size: number, count: number): Promise<number> {
    await using worker = await startWorker<RequestCalls>(join(__dirname, 'requests.worker.ts'), [], { node });
    return await worker.call('bytes', application, size, count);
  }

  describe.each(['Express', 'Fastify'] as const)('with %s, a request with a timer of an hour', (platform) => {
    it.each(['plain', 'locked'] as const)('keeps hardly more than with Nest alone: %s', async (route) => {
      const alone = await bytes({ platform, module: false, route: 'plain' }, 10, 3_000);
      const ours = await bytes({ platform, module: true, route }, 10, 3_000);

      expect(ours - alone).toBeLessThan(LIMIT + (FRAME[version] ?? 0));
    });

    it.each(['plain', 'locked'] as const)('does not keep a body of 2 MB: %s', async (route) => {
      expect(await bytes({ platform, module: true, route }, 2_000_000, 20)).toBeLessThan(70_000);
    });
  });

  it('calls no hooks for an await after 200 closed applications', async () => {
    await using worker = await startWorker<AwaitCalls>(join(__dirname, 'awaits.worker.ts'), [], { node });

    // From Node 24 on, an AsyncLocalStorage needs none.
    expect(await worker.call('openAndClose', 200)).toBe(Number(version) < 24);
    expect(await worker.call('isAwaitHooked')).toBe(false);
  });

  it.each(['no hold', 'a hold'] as const)(
    'runs 20,000 self-scheduled runs at the same cost below %s',
    async (below) => {
      let growth = Infinity;
      // The system counts CPU roughly, and more of it for a busy machine; costs that grow do so in every round.
      for (let round = 0; round < ROUNDS && growth >= 1.5; round++) {
        await using worker = await startWorker<RunCalls>(join(__dirname, 'runs.worker.ts'), [], { node });
        const settled = (await worker.call('costs', below, 2_000, 10)).slice(2);
        const total = (part: typeof settled): number => part.reduce((sum, { cpu }) => sum + cpu, 0);
        growth = total(settled.slice(-2)) / total(settled.slice(0, 2));

        expect(settled.reduce((sum, cost) => sum + cost.bytes, 0) / settled.length).toBeLessThan(50);
      }

      expect(growth).toBeLessThan(1.5);
    },
  );
});
