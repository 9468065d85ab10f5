// Renders the pages as the build of the site does, and fills an index of each language as VitePress does, in seconds.
// Prints JSON: { html: { page: html }, indexes: { locale: index } }. Reads the pages of the API if `npm run docs` has made them.
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import MiniSearch from 'minisearch';
import { createMarkdownRenderer } from 'vitepress';
import config from '../../docs/.vitepress/config.mjs';
import { miniSearch, searchableText } from '../../docs/.vitepress/search.mjs';

const docs = fileURLToPath(new URL('../../docs', import.meta.url));
// Colours say nothing to a reader of HTML, and cost most of the time.
const md = await createMarkdownRenderer(docs, { ...config.markdown, highlight: () => '' }, config.base);

/** @type {Record<string, string>} */
const html = {};
/** @type {Record<string, MiniSearch>} */
const indexes = {};
const paths = readdirSync(docs, { recursive: true, encoding: 'utf8' })
  .map((path) => path.split(sep).join('/'))
  .filter((path) => path.endsWith('.md') && !path.startsWith('.'));
for (const relativePath of paths.toSorted()) {
  const env = { path: join(docs, relativePath), relativePath, cleanUrls: false };
  const source = readFileSync(env.path, 'utf8');
  html[relativePath] = md.render(source, { ...env });
  const id = `${config.base}${relativePath}`.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '.html');
  const locale = relativePath.startsWith('zh-CN/') ? 'zh-CN' : 'root';
  indexes[locale] ??= new MiniSearch({
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    ...miniSearch.options,
  });
  for (const { anchor, titles, text } of sectionsOf(searchableText(source, env, md))) {
    indexes[locale].add({ id: `${id}#${anchor}`, text, title: titles.at(-1), titles: titles.slice(0, -1) });
  }
}
for (const name of ['README.md', 'README.zh-CN.md']) {
  const path = join(docs, '..', name);
  html[name] = md.render(readFileSync(path, 'utf8'), { path, relativePath: name, cleanUrls: false });
}
process.stdout.write(JSON.stringify({ html, indexes }), () => process.exit());

/**
 * The sections of a page, as VitePress splits it.
 *
 * @param {string} page
 */
function* sectionsOf(page) {
  const parts = page.split(/<h(\d*).*?>(.*?<a.*? href="#.*?".*?>.*?<\/a>)<\/h\1>/gi);
  /** @type {string[]} */
  const above = [];
  for (let at = 1; at < parts.length; at += 3) {
    const [level = '', heading = '', content = ''] = parts.slice(at, at + 3);
    const [, title = '', anchor = ''] = /(.*?)<a.*? href="#(.*?)".*?>.*?<\/a>/i.exec(heading) ?? [];
    above.length = Number(level) - 1;
    above.push(textOf(title).trim());
    yield { anchor, titles: above.filter(Boolean), text: textOf(content) };
  }
}

/** @param {string} markup */
function textOf(markup) {
  return markup.replaceAll(/<[^>]*>/g, '');
}
