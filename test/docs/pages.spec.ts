import { chineseSidebar, sidebar } from '../../docs/.vitepress/sidebar.mjs';
import { documentOf, documents, pages, SKILL } from './documents.js';

/** Of a line of prose. Tables, code, links by themselves and what stands before a page are no prose. */
const WIDTH = 120;

const items = [...sidebar, ...chineseSidebar].flatMap((section) => section.items);
/** The first page of each language, to which the title leads. */
const FIRST = ['/', '/zh-CN/'];

describe.each(documents)('$file', ({ document: { lines, blocks } }) => {
  it(`has lines of prose with at most ${WIDTH} characters`, () => {
    const inCode = new Set(
      blocks.flatMap(({ line, text }) => text.split('\n').map((_text, index) => line + index)),
    );
    const long = lines.filter(
      (text, index) => text.length > WIDTH && !/^\s*(?:\||<|!?\[|alt=)/.test(text) && !inCode.has(index + 1),
    );
    expect(long).toEqual([]);
  });
});

it('The README has at most 180 lines, and no cell of a table above 200 characters', () => {
  const { lines, tables } = documentOf('README.md');
  expect(lines.length).toBeLessThanOrEqual(180);
  const cells = tables.flatMap((rows) => rows.flatMap((row) => Object.values(row)));
  expect(cells.filter((cell) => cell.length > 200)).toEqual([]);
});

it('There are at most 50 pages in English', () => {
  const english = pages.filter(({ file }) => !file.startsWith('docs/zh-CN/'));
  expect(english.length).toBeLessThanOrEqual(50);
});

it('The skill for coding assistants has at most 60 lines', () => {
  expect(documentOf(SKILL).lines.length).toBeLessThanOrEqual(60);
});

describe.each(pages)('$file', ({ file, document: { lines, blocks } }) => {
  // Nobody reads Troubleshooting whole: a heading leads to each of its paragraphs.
  const most = file.endsWith('/troubleshooting.md') ? 400 : 300;

  it(`has at most ${most} lines`, () => {
    expect(lines.length).toBeLessThanOrEqual(most);
  });

  it('opens with its purpose, and has an early example', () => {
    expect(lines[0]).toMatch(/^# /);
    expect(lines[2]).not.toMatch(/^(?:$|#|\||```)/);
    expect(blocks[0]?.line).toBeLessThan(40);
  });

  it('is in the sidebar once, except for the first page of each language', () => {
    const link = file.replace(/^docs/, '').replace(/(?:index)?\.md$/, '');
    const links = items.map((item) => item.link);
    expect(links.filter((each) => each === link)).toEqual(FIRST.includes(link) ? [] : [link]);
  });
});

it('The sidebar has no page that is missing', () => {
  expect(items).toHaveLength(pages.length - FIRST.length);
});
