import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';

/**
 * A Chinese page and the page that it tells in English, as paths in the repository.
 *
 * @typedef {{ chinese: string; english: string }} TranslatedPage
 */

/**
 * @param {string} root of the repository
 * @returns {readonly TranslatedPage[]}
 */
export function translatedPages(root) {
  const pages = readdirSync(join(root, 'docs/zh-CN'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/zh-CN/${path.split(sep).join('/')}`);
  return ['README.zh-CN.md', ...pages.toSorted()]
    .map((chinese) => ({ chinese, english: chinese.replace('zh-CN/', '').replace('.zh-CN', '') }))
    .filter(({ english }) => existsSync(join(root, english)));
}

/**
 * What a page says, in twelve characters. The width of columns and the figures that a program writes do not count.
 *
 * @param {string} markdown
 */
export function hashOf(markdown) {
  const text = markdown
    .replaceAll(/<!-- figures: .*?<!-- end -->/gs, '')
    .replaceAll(/-{3,}/g, '---')
    .replaceAll(/\s+/g, ' ');
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
