import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const docs = fileURLToPath(new URL('..', import.meta.url));
/** The first page of each language. */
const FIRST = ['index.md', 'zh-CN/index.md'];
/** A table that needs more room than a column of text has: six columns or more, or a page's worth of text in its rows. */
const WIDE_TABLE = /^\|(?:[^|\n]+\|){6,}\n\|[ :|-]+\|$|^\|.{480,}\|$/m;

/**
 * Chooses the layout of a page by its path and its content, so that the page itself is plain Markdown.
 *
 * @param {import('vitepress').PageData} page
 */
export function withLayout({ relativePath, filePath }) {
  if (FIRST.includes(relativePath))
    return { frontmatter: { pageClass: 'home', sidebar: false, aside: false, prev: false, next: false } };
  if (WIDE_TABLE.test(readFileSync(docs + filePath, 'utf8'))) return { frontmatter: { pageClass: 'wide' } };
  return {};
}
