// Builds the site of docs in .cache/site: node docs.mjs [--serve]
//
// The API pages come first, from the docstrings, into docs/api, and the drawings as SVG into docs/drawings. Errors are: a warning of typedoc, a symbol without a place on
// the first page of the API, a dead link, and a page that cannot be rendered.
//
// --serve  serves the pages instead, and shows a change at once
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeApiLanding } from './api-landing.mjs';
import { writeDrawings } from './drawings.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);

/**
 * @param {string} name of a package
 * @param {string} program a file of it
 * @param {string[]} args
 */
function run(name, program, ...args) {
  const file = join(require.resolve(`${name}/package.json`), '..', program);
  const { status } = spawnSync(process.execPath, [file, ...args], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

run('typedoc', 'bin/typedoc');
writeApiLanding(join(root, 'docs/api'));
await writeDrawings();
run('vitepress', 'bin/vitepress.js', process.argv.includes('--serve') ? 'dev' : 'build', 'docs');
