import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from '@jest/test-result';
import Sequencer from '../../../tools/test-sequencer.cjs';

const SIZES = {
  'contract.spec.ts': 200,
  'unit.spec.ts': 2_000,
  'shortest.spec.ts': 100,
  'e2e.spec.ts': 5_000,
};

describe('the order of specs', () => {
  let cacheDirectory: string;
  let tests: Test[];

  beforeEach(async () => {
    cacheDirectory = await mkdtemp(join(tmpdir(), 'test-sequencer-'));
    const config = { cache: true, cacheDirectory, id: 'tests', haste: {} };
    const sizes: Readonly<Record<string, number>> = SIZES;
    const context = { config, hasteFS: { getSize: (path: string) => sizes[path] } };
    tests = Object.keys(SIZES).map((path) => ({ path, context }) as unknown as Test);
  });
  afterEach(() => rm(cacheDirectory, { recursive: true }));

  async function order(): Promise<string[]> {
    const sorted = await new Sequencer({} as never).sort([...tests]);
    return sorted.map(({ path }) => path);
  }

  it('begins with those that play other files, the rest by size, where nobody knows how long they take', async () => {
    expect(await order()).toEqual(['shortest.spec.ts', 'contract.spec.ts', 'e2e.spec.ts', 'unit.spec.ts']);
  });

  it('is that of their times once they are known', async () => {
    const seconds = [20, 30, 10, 40];
    const testResults = tests.map(({ path }, index) => ({
      testFilePath: path,
      perfStats: { runtime: seconds[index] },
    }));
    new Sequencer({} as never).cacheResults(tests, { testResults } as never);

    expect(await order()).toEqual(['e2e.spec.ts', 'unit.spec.ts', 'contract.spec.ts', 'shortest.spec.ts']);
  });
});
