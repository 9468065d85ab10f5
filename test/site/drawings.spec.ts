import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documents, root } from '../docs/documents.js';
import { BuiltSite } from './built-site.js';

const folder = join(root, 'docs/drawings');
const sources = readdirSync(folder).filter((file) => file.endsWith('.dot'));

it.each(sources)('%s has an SVG with its words, and a document shows it', (file) => {
  const name = file.replace('.dot', '');
  const svgs = readdirSync(folder).filter((each) => each.endsWith('.svg') && each.startsWith(name));
  const text = readFileSync(join(folder, file), 'utf8');
  const words = [...text.matchAll(/label="([^"]+)"/g)].flatMap(([, label = '']) => label.split('\\n'));
  expect(svgs).not.toEqual([]);
  for (const svg of svgs) {
    const drawn = readFileSync(join(folder, svg), 'utf8')
      .replaceAll(/&#(\d+);/g, (_entity, code) => String.fromCodePoint(Number(code)))
      .replaceAll('\u00A0', ' ')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>');
    expect(words.filter((each) => !drawn.includes(each.trim()))).toEqual([]);
  }
  expect(documents.some(({ document }) => document.lines.join('\n').includes(`drawings/${svgs[0]}`))).toBe(
    true,
  );
});

it('The site shows drawings with its own colours', () => {
  const page = BuiltSite.text('how-it-works/protocol.html');
  expect(page).toMatch(/class="drawing"[^>]*aria-label="A name is free[^"]*"/);
  expect(page).not.toContain('prefers-color-scheme: dark) { svg');
});
