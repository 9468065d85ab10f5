// Says what is missing before a publication: node check.mjs [--write] [--compared PAGE…]
//
// --write          enters the addresses of docs/.vitepress/site.json into package.json and the READMEs
// --compared PAGE  records that a Chinese page tells what its English page tells now
//
// Publishes nothing. The exit code is 1 while something is missing.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addressFields, addressesOf, withAddresses, withoutAddresses } from './addresses.mjs';
import { readFigures } from '../figures/figures.mjs';
import { missingIn } from './missing.mjs';
import { hashOf, translatedPages } from './translated.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const READMES = ['README.md', 'README.zh-CN.md'].filter((name) => existsSync(join(root, name)));

/** @param {string} name */
const read = (name) => readFileSync(join(root, name), 'utf8');

/**
 * @param {string} program
 * @param {...string} args
 */
const run = (program, ...args) => execFileSync(program, args, { cwd: root, encoding: 'utf8' });

const manifest = JSON.parse(read('package.json'));
const addresses = JSON.parse(read('docs/.vitepress/site.json'));

if (process.argv.includes('--write')) {
  const before = addressesOf(manifest);
  for (const name of READMES) {
    writeFileSync(join(root, name), withAddresses(withoutAddresses(read(name), before), addresses));
  }
  for (const field of ['repository', 'homepage', 'bugs']) delete manifest[field];
  Object.assign(manifest, addressFields(addresses));
  writeFileSync(join(root, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** @type {Record<string, string>} the hash of the English page with which somebody compared each Chinese page last */
const compared = JSON.parse(read('tools/release/translated.json'));
const translated = translatedPages(root);

if (process.argv.includes('--compared')) {
  const named = process.argv.slice(process.argv.indexOf('--compared') + 1);
  for (const { chinese, english } of translated) {
    if (named.includes(chinese)) compared[chinese] = hashOf(read(english));
  }
  writeFileSync(join(root, 'tools/release/translated.json'), `${JSON.stringify(compared, null, 2)}\n`);
}
const outdated = translated
  .filter(({ chinese, english }) => compared[chinese] !== hashOf(read(english)))
  .map(({ chinese }) => chinese);

/** @param {string | undefined} commit */
const changedSince = (commit) =>
  commit === undefined
    ? []
    : run('git', 'diff', '--name-only', commit, 'HEAD', '--', 'lib/engine', 'lib/store')
        .split('\n')
        .filter(Boolean);

const measured = [
  ...readFigures().runs.map(({ commit }) => ({
    what: 'The figures of speed',
    command: 'npm run bench',
    commit,
  })),
  {
    what: 'The results of servers',
    command: 'npm run test:servers -- --write',
    commit: /^Tried on [\d-]+ at commit `(\w+)`/m.exec(read('docs/servers.md'))?.[1],
  },
].map((each) => ({ ...each, changed: changedSince(each.commit) }));
const readmes = Object.fromEntries(READMES.map((name) => [name, read(name)]));
const missing = missingIn({
  manifest,
  addresses,
  changelog: read('CHANGELOG.md'),
  readmes,
  measured,
  outdated,
});
if (run('git', 'status', '--porcelain') !== '') missing.push('There are changes that are not committed.');
if (run('git', 'tag', '--list', `v${manifest.version}`) !== '') {
  missing.push(`There is a tag v${manifest.version} already.`);
}

const [packed] = JSON.parse(run('npm', 'pack', '--dry-run', '--json'));
console.log(
  `npm would pack ${packed.filename}: ${packed.files.length} files, ${Math.ceil(packed.size / 1_000)} kB.`,
);
console.log('npm makes a provenance only where it publishes from a CI that it trusts (`id-token: write`).');
for (const each of missing) console.log(`- ${each}`);
console.log(missing.length === 0 ? 'Nothing is missing.' : `${missing.length} things are missing.`);
process.exitCode = missing.length === 0 ? 0 : 1;
