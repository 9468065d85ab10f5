import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAGES, readFigures, textsOf, withFigures } from '../../tools/figures/figures.mjs';
import { root } from './documents.js';

const REGION = /<!-- figures: ([\w-]+) -->[^]*?<!-- end -->/g;
const figures = readFigures();

describe.each(PAGES)('%s', (file) => {
  const page = readFileSync(join(root, file), 'utf8');

  it('tells the figures of the last whole run of the benchmark', () => {
    expect(unbroken(withFigures(page, figures))).toBe(unbroken(page));
  });

  it('tells no such figure outside of its marks', () => {
    const values = Object.values(figures.cases).flatMap((figuresOfCase) => Object.values(figuresOfCase));
    const written = values.map((value) => value.toLocaleString('en')).filter((text) => text.length > 3);
    const typed = page.replaceAll(REGION, '');
    expect(written.filter((text) => typed.includes(text))).toEqual([]);
  });
});

it('Every text of figures stands on a page', () => {
  const shown = PAGES.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(REGION)].map(([, name]) => name),
  );
  expect(new Set(shown)).toEqual(new Set(Object.keys(textsOf(figures))));
});

/** Without what prettier decides: the lines, and the width of columns. */
function unbroken(markdown: string): string {
  return markdown.replaceAll(/\s+/g, ' ').replaceAll(/-{3,}/g, '---');
}
