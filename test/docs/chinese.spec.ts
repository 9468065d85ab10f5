import { posix } from 'node:path';
import { documents, type NamedDocument } from './documents.js';

/** Written for readers who know Redisson: there is no such page in English. */
const OF_ITS_OWN = 'docs/zh-CN/redisson.md';

const files = new Map(documents.map(({ file, document }) => [file, document]));
const chinese = documents.filter(({ file }) => file.includes('zh-CN') && file !== OF_ITS_OWN);

/** The file with the same content in the other language, or the file itself. */
function englishOf(file: string): string {
  return file.replace('zh-CN/', '').replace('.zh-CN', '');
}

/** Where links lead within the repository, except from one language to the other. */
function targetsOf({ file, document }: NamedDocument): readonly string[] {
  return document.links
    .filter((link) => !/^(?:https?:|#)/.test(link))
    .map((link) => posix.join(posix.dirname(file), link))
    .filter((target) => englishOf(target) !== englishOf(file));
}

describe.each(chinese)('$file', ({ file, document }) => {
  const source = files.get(englishOf(file));
  if (source === undefined) throw new Error(`${file} has no page in English.`);
  const translated = new Set(chinese.map((each) => englishOf(each.file)));

  it('has the headings of the English page: their levels, and the code in them', () => {
    expect(document.headings).toEqual(source.headings);
  });

  it('has the code of the English page, but for its comments', () => {
    const codeOf = ({ blocks }: typeof source): readonly string[] =>
      blocks.map(({ text }) => text.replaceAll(/ *(?:\/\/|#|--) .*$/gm, ''));
    expect(codeOf(document)).toEqual(codeOf(source));
  });

  it('has the tables of the English page, in rows and columns', () => {
    const shapeOf = ({ tables }: typeof source): readonly (readonly number[])[] =>
      tables.map((rows) => rows.map((row) => Object.keys(row).length));
    expect(shapeOf(document)).toEqual(shapeOf(source));
  });

  it('has the links of the English page, in Chinese where there is such a page', () => {
    // Headings have other anchors in Chinese.
    const found = targetsOf({ file, document }).map((target) =>
      target.includes('zh-CN') ? (englishOf(target).split('#')[0] ?? '') : target,
    );
    const wanted = targetsOf({ file: englishOf(file), document: source }).map((target) => {
      const [path = ''] = target.split('#');
      return translated.has(path) ? path : target;
    });
    expect(wanted.filter((target) => !found.includes(target))).toEqual([]);
  });
});

it('Chinese pages are few enough to be kept up to date', () => {
  expect(chinese.length).toBeGreaterThan(1);
  expect(chinese.length + 1).toBeLessThanOrEqual(9);
});
