import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Puts the drawings of docs/drawings into the page, so that they have its colours and its font: see theme/drawings.css.
 *
 * @param {import('vitepress').MarkdownRenderer} md
 */
export function drawings(md) {
  const { image } = md.renderer.rules;
  md.renderer.rules.image = (tokens, index, options, env, self) => {
    const token = tokens[index];
    const source = token?.attrGet('src') ?? '';
    if (!/\bdrawings\/[\w-]+\.svg$/.test(source)) return image?.(tokens, index, options, env, self) ?? '';
    const label = md.utils.escapeHtml(token?.content ?? '');
    const svg = readFileSync(resolve(dirname(env.path), source), 'utf8');
    return `<span class="drawing" v-pre tabindex="0" role="img" aria-label="${label}">${inPage(svg)}</span>`;
  };
}

/**
 * @param {string} svg
 */
function inPage(svg) {
  return svg
    .replace(/<style>.*?<\/style>\n/, '')
    .replace(/<svg width="(\w+)" height="\w+"/, '<svg aria-hidden="true" style="--width: $1"');
}
