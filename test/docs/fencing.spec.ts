import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentOf, root } from './documents.js';

const WRITES = join(root, 'test/fencing/writes');

it('The page on fencing shows the code that npm run test:fencing runs, and all of it', () => {
  const shown = documentOf('docs/recipes/fencing.md').blocks.filter(
    ({ language }) => language === 'typescript',
  );
  const run = readdirSync(WRITES).map((file) => readFileSync(join(WRITES, file), 'utf8').trimEnd());
  expect(run.length).toBeGreaterThan(7);
  expect(shown.map(({ text }) => text).toSorted()).toEqual(run.toSorted());
});
