import { instance } from '@viz-js/viz';

const viz = await instance();
/** What every drawing has unless it says otherwise. Colours and font are those of the page: see theme/drawings.css. */
const LOOK = {
  graphAttributes: {
    bgcolor: 'transparent',
    fontname: 'Helvetica',
    fontsize: 13,
    nodesep: 0.35,
    ranksep: 0.45,
  },
  nodeAttributes: {
    shape: 'box',
    style: 'rounded',
    fontname: 'Helvetica',
    fontsize: 13,
    margin: '0.2,0.08',
  },
  edgeAttributes: { fontname: 'Helvetica', fontsize: 12, arrowsize: 0.7 },
};

/**
 * Draws blocks of the language `dot` while the site is built. The comment with which each begins is its text for those who
 * do not see it.
 *
 * @param {import('vitepress').MarkdownRenderer} md
 */
export function drawings(md) {
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const { info = '', content = '' } = tokens[index] ?? {};
    if (info !== 'dot') return fence?.(tokens, index, options, env, self) ?? '';
    const [, text] = /^\/\*(.+?)\*\//s.exec(content) ?? [];
    if (text === undefined) throw new Error(`A drawing has no text: ${content}`);
    const label = md.utils.escapeHtml(text.replaceAll(/\s+/g, ' ').trim());
    return `<figure class="drawing" v-pre tabindex="0" role="img" aria-label="${label}">${drawn(content)}</figure>`;
  };
}

/**
 * @param {string} source
 * @throws Error when it is no graph
 */
function drawn(source) {
  const svg = viz.renderString(source, { ...LOOK, format: 'svg' });
  return svg
    .slice(svg.indexOf('<svg'))
    .replaceAll(/<!--.*?-->|<title>.*?<\/title>/gs, '')
    .replaceAll('"black"', '"currentColor"')
    .replace(/<svg width="(\w+)" height="\w+"/, '<svg aria-hidden="true" style="--width: $1"');
}
