import { posix } from 'node:path';
import { runInNewContext } from 'node:vm';
import { pages } from '../docs/documents.js';
import { BuiltSite } from './built-site.js';
import { renderedPages } from './rendered-pages.js';

const sources = new Map(BuiltSite.pages.map((path) => [path, BuiltSite.text(path)]));

it('Links of the site lead to pages and headings that exist', () => {
  const lost = [...sources].flatMap(([path, html]) =>
    [...html.matchAll(/<a [^>]*?href="([^"]+)"/g)].flatMap(([, link = '']) => {
      if (/^(?:[a-z]+:|\/\/)/.test(link)) return [];
      const [target = '', anchor] = link.split('#');
      const file =
        target === ''
          ? path
          : posix.join(target.startsWith('/') ? '' : posix.dirname(path), target).replace(/^\//, '');
      const found = sources.get(file === '' || file.endsWith('/') ? `${file}index.html` : file);
      const there = found !== undefined && (!anchor || found.includes(`id="${decodeURIComponent(anchor)}"`));
      return there ? [] : [`${path}: ${link}`];
    }),
  );
  expect(lost).toEqual([]);
});

it('llms.txt names every page in English, and llms-full.txt has their text', () => {
  const index = BuiltSite.text('llms.txt');
  const links = [...index.matchAll(/\]\(\/(\S+)\.md\)/g)].map(([, link]) => link);
  const written = pages
    .filter(({ file }) => !file.startsWith('docs/zh-CN/'))
    .map(({ file }) => file.replace(/^docs\//, '').replace(/(?:\/index)?\.md$/, ''))
    .filter((path) => path !== 'index');
  expect(new Set(links)).toEqual(new Set(written));
  expect(BuiltSite.text('llms-full.txt')).toContain('Fencing tokens close these gaps');
});

it('The first page of the API says in a sentence what each symbol is', () => {
  const entries = /<li><a href="\.\/([^"]+)"[^>]*><code>\w+<\/code><\/a>: (.+?)<\/li>/g;
  const rows = [...(sources.get('api/index.html') ?? '').matchAll(entries)];
  const symbols = BuiltSite.pages.filter((path) => path.startsWith('api/') && path !== 'api/index.html');
  expect(rows.map(([, page]) => `api/${page}`).toSorted()).toEqual(symbols.toSorted());
  expect(
    rows.map(([, page, sentence]) => [page, sentence]).filter(([, sentence]) => !sentence?.endsWith('.')),
  ).toEqual([]);
  expect(rows.length).toBeGreaterThan(70);
});

it('The pages of the API name the members of a class', () => {
  expect(sources.get('api/index/classes/LockService.html')).toContain('id="tryacquire"');
});

it.each(['root', 'zh-CN'])(
  'The search of the site (%s) has the index that search.spec.ts searches',
  (locale) => {
    const script = BuiltSite.text(BuiltSite.fileOf(`assets/chunks/@localSearchIndex${locale}.`));
    const index = runInNewContext(
      script.replace(/export\s*\{\s*(\w+) as default\s*\};?\s*$/, '$1'),
    ) as string;
    expect(termsOf(JSON.parse(index))).toEqual(termsOf(renderedPages().indexes[locale]));
  },
);

/** How many terms each section of an index has, by its address. */
function termsOf(index: unknown): Record<string, unknown> {
  const { documentIds, fieldLength } = index as {
    documentIds: Record<string, string>;
    fieldLength: Record<string, unknown>;
  };
  return Object.fromEntries(Object.entries(documentIds).map(([key, id]) => [id, fieldLength[key]]));
}
