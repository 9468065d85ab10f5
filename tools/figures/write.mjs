// Writes the figures of test/bench/figures.json into the pages that tell them: node write.mjs
//
// A page has them between `<!-- figures: NAME -->` and `<!-- end -->`. A whole run of `npm run bench` writes the figures,
// and then the pages.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { PAGES, readFigures, withFigures } from './figures.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

for (const file of PAGES) {
  const path = join(root, file);
  const page = withFigures(readFileSync(path, 'utf8'), readFigures());
  writeFileSync(path, await format(page, { ...(await resolveConfig(path)), filepath: path }));
}
