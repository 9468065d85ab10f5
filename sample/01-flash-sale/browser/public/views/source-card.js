import { html } from '/lit-html/lit-html.js';

/** @typedef {import('../../../tour/excerpt.interface.js').Excerpt} Excerpt */

const TOKEN =
  /(?<comment>\/\/.*)|(?<text>'[^']*'|`[^`]*`)|(?<mark>@\w+|\b(?:locks\.using|fencingToken|assertHeld|fencedUpdate)\b)|(?<word>\b(?:async|await|class|const|export|for|function|if|let|new|private|readonly|return|this|throw|while)\b)/g;

/**
 * The lines that matter, from the files that this page runs.
 *
 * @param {readonly Excerpt[]} excerpts
 */
export function sourceCard(excerpts) {
  return html`
    <section class="source card" aria-labelledby="source-title">
      <h2 id="source-title">The lines that matter</h2>
      ${excerpts.map(
        ({ file, lines }) => html`
          <h3>${file}</h3>
          <pre><code>${lines.map((line) => html`<span class="line">${coloured(line)}</span>`)}</code></pre>
        `,
      )}
    </section>
  `;
}

/** @param {string} line */
function coloured(line) {
  const parts = [];
  let end = 0;
  for (const { 0: token, index, groups = {} } of line.matchAll(TOKEN)) {
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined) ?? '';
    parts.push(line.slice(end, index), html`<span class=${kind}>${token}</span>`);
    end = index + token.length;
  }
  return [...parts, line.slice(end), '\n'];
}
