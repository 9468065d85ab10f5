import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import compared from '../../../tools/release/translated.json';
import {
  addressesOf,
  addressFields,
  withAddresses,
  withoutAddresses,
} from '../../../tools/release/addresses.mjs';
import { missingIn } from '../../../tools/release/missing.mjs';
import { hashOf, translatedPages } from '../../../tools/release/translated.mjs';

const root = join(__dirname, '../../..');
const NONE = { repository: null, homepage: null };
const ADDRESSES = { repository: 'https://example.com/us/locks', homepage: 'https://locks.example.com/docs/' };
const MOVED = { repository: 'https://example.org/them/locks', homepage: null };

describe('the addresses of the project', () => {
  it.each([
    ['[a](docs/guide/keys.md#names)', '[a](https://locks.example.com/docs/guide/keys.html#names)'],
    ['[a](docs/recipes/index.md)', '[a](https://locks.example.com/docs/recipes/)'],
    ['[a](CHANGELOG.md)', '[a](https://example.com/us/locks/blob/main/CHANGELOG.md)'],
    ['![a](sample/a.png)', '![a](https://example.com/us/locks/raw/main/sample/a.png)'],
    ['<img src="sample/a.png">', '<img src="https://example.com/us/locks/raw/main/sample/a.png">'],
    ['[**a**](#pages) [b](https://redis.io)', '[**a**](#pages) [b](https://redis.io)'],
  ])('make of %s a link that leads there from everywhere, and back', (relative, absolute) => {
    expect(withAddresses(relative, ADDRESSES)).toBe(absolute);
    expect(withoutAddresses(absolute, ADDRESSES)).toBe(relative);
  });

  it.each(['README.md', 'README.zh-CN.md'])('can be entered into %s, changed and taken out', (name) => {
    const text = withoutAddresses(readFileSync(join(root, name), 'utf8'), NONE);
    const entered = withAddresses(text, ADDRESSES);
    expect(entered).not.toMatch(/\]\((?!https?:|#)/);
    const changed = withAddresses(withoutAddresses(entered, ADDRESSES), MOVED);
    expect(withoutAddresses(changed, MOVED)).toBe(text);
  });

  it.each([ADDRESSES, MOVED, NONE])('are the same after they went through package.json: %p', (addresses) => {
    expect(addressesOf(addressFields(addresses))).toEqual(addresses);
  });
});

describe('what is missing before a publication', () => {
  const MEASURED = {
    what: 'The figures',
    command: 'npm run bench',
    commit: 'abcdef0123',
    changed: [] as string[],
  };
  const ready = {
    manifest: {
      version: '1.2.0',
      publishConfig: { access: 'public', provenance: true },
      ...addressFields(ADDRESSES),
    },
    addresses: ADDRESSES,
    changelog: '# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-12-01\n\n### Added\n\n- Something.\n',
    readmes: { 'README.md': withAddresses('[a](docs/compare.md)', ADDRESSES) },
    measured: [MEASURED],
    outdated: [] as string[],
  };

  it('is nothing when all agree', () => {
    expect(missingIn(ready)).toEqual([]);
  });

  it.each([
    ['an address', { addresses: NONE }, 'names no repository'],
    [
      'fields of package.json',
      { manifest: { ...ready.manifest, bugs: undefined } },
      'package.json has other addresses',
    ],
    ['links of a README', { readmes: { 'README.md': '[a](docs/compare.md)' } }, 'README.md has other links'],
    ['a commit of figures', { measured: [{ ...MEASURED, commit: undefined }] }, 'The figures name no commit'],
    [
      'figures that are older than the engine',
      { measured: [{ ...MEASURED, changed: ['lib/engine/lease.ts'] }] },
      'The figures are of abcdef01, and 1 files',
    ],
    [
      'a Chinese page that is older than the English one',
      { outdated: ['docs/zh-CN/index.md'] },
      'docs/zh-CN/index.md is older',
    ],
    ['provenance', { manifest: { ...ready.manifest, publishConfig: {} } }, '"provenance": true'],
    [
      'the version',
      { manifest: { ...ready.manifest, version: '1.3.0' } },
      '1.2.0 last, package.json is 1.3.0',
    ],
    [
      'a version for entries',
      { changelog: ready.changelog.replace('[Unreleased]\n', '[Unreleased]\n\n- New.\n') },
      'entries under Unreleased',
    ],
  ])('is listed: %s', (_what, change, said) => {
    expect(missingIn({ ...ready, ...change }).join('\n')).toContain(said);
  });
});

describe('the hash of a page', () => {
  it('changes with a word', () => {
    expect(hashOf('Waiters queue.')).not.toBe(hashOf('Waiters poll.'));
  });

  it.each([
    ['the width of a column', '| a | b |\n| --- | --- |', '| a   | b |\n| ----- | --- |'],
    ['a figure of a program', '<!-- figures: a -->\n1\n<!-- end -->', '<!-- figures: a -->\n2\n<!-- end -->'],
  ])('does not change with %s', (_what, before, after) => {
    expect(hashOf(before)).toBe(hashOf(after));
  });

  it('is recorded for each Chinese page', () => {
    expect(Object.keys(compared).toSorted()).toEqual(
      translatedPages(root)
        .map(({ chinese }) => chinese)
        .toSorted(),
    );
  });
});
