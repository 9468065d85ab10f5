// Makes an SVG of each drawing in docs/drawings: node drawings.mjs
//
// The SVGs are committed, because GitHub shows no `dot`. `npm run docs` makes them as well.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { instance } from '@viz-js/viz';

const folder = fileURLToPath(new URL('../docs/drawings', import.meta.url));

/** What every drawing has unless it says otherwise. */
const LOOK = {
  graphAttributes: {
    bgcolor: 'transparent',
    fontname: 'Helvetica',
    fontsize: 13,
    nodesep: 0.35,
    ranksep: 0.45,
  },
  nodeAttributes: { shape: 'box', style: 'rounded', fontname: 'Helvetica', fontsize: 13, margin: '0.2,0.08' },
  edgeAttributes: { fontname: 'Helvetica', fontsize: 12, arrowsize: 0.7 },
};
/** The colours of lines and text, and of what a drawing marks as `accent`. */
const LIGHT = { text: '#1f2328', accent: '#0f766e' };
const DARK = { text: '#e6edf3', accent: '#5eead4' };
/** Stands for the accent until the theme is known. */
const ACCENT = '#000001';
/** The README shows the idea in the theme of its reader, which an SVG alone does not learn on GitHub. */
const BOTH_THEMES = ['idea'];

/**
 * The SVG files of all drawings by their names.
 *
 * @returns {Promise<Map<string, string>>}
 * @throws Error when a drawing is no graph
 */
export async function drawings() {
  const viz = await instance();
  /** @type {Map<string, string>} */
  const files = new Map();
  for (const file of readdirSync(folder).filter((each) => each.endsWith('.dot'))) {
    const name = basename(file, '.dot');
    const source = readFileSync(join(folder, file), 'utf8').replaceAll('=accent', `="${ACCENT}"`);
    const svg = viz.renderString(source, { ...LOOK, format: 'svg' });
    const drawn = svg
      .slice(svg.indexOf('<svg'))
      .replaceAll(/<!--.*?-->\n?|<title>.*?<\/title>\n?/gs, '')
      .replaceAll('"black"', '"currentColor"');
    const withStyle = (/** @type {string} */ style) => drawn.replace('<g ', `<style>${style}</style>\n<g `);
    if (BOTH_THEMES.includes(name)) {
      for (const [theme, { text, accent }] of Object.entries({ light: LIGHT, dark: DARK })) {
        const style = `svg { color: ${text} } text:not([fill]) { fill: currentColor }`;
        files.set(`${name}-${theme}.svg`, withStyle(style).replaceAll(ACCENT, accent));
      }
    } else {
      const dark = `@media (prefers-color-scheme: dark) { svg { color: ${DARK.text} } }`;
      files.set(`${name}.svg`, withStyle(`svg { color: ${LIGHT.text} } text { fill: currentColor } ${dark}`));
    }
  }
  return files;
}

/** Writes them into docs/drawings. */
export async function writeDrawings() {
  for (const [name, svg] of await drawings()) writeFileSync(join(folder, name), svg);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) void writeDrawings();
