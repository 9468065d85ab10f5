import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { scripts } from '../../package.json';
import { documents, root } from './documents.js';
import { MarkdownDocument } from './markdown-document.js';

describe.each(documents)('$file', ({ file, document }) => {
  const targets = document.links
    .filter((link) => !/^(?:https?:|\/)/.test(link))
    .map((link) => {
      const [path = '', anchor] = link.split('#');
      return { link, target: path === '' ? join(root, file) : join(root, dirname(file), path), anchor };
    });

  it('has links to files that exist', () => {
    expect(targets.filter(({ target }) => !existsSync(target))).toEqual([]);
  });

  it('has links to headings that exist', () => {
    const lost = targets.filter(
      ({ target, anchor }) => anchor !== undefined && !MarkdownDocument.at(target).anchors.includes(anchor),
    );
    expect(lost).toEqual([]);
  });

  it('links to files, not to folders, of which the site has none', () => {
    const folders = targets.filter(
      ({ target }) => target.startsWith(join(root, 'docs')) && statSync(target).isDirectory(),
    );
    expect(folders).toEqual([]);
  });

  it('names npm scripts that exist', () => {
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining([...document.commands]));
  });
});

it('Some page leads to each, but for the first page of each language', () => {
  const linked = documents.flatMap(({ file, document }) =>
    document.links.map((link) => relative(root, join(root, dirname(file), link.split('#')[0] ?? ''))),
  );
  const unreachable = documents.filter(({ file }) => !linked.includes(file) && file !== 'README.md');
  expect(unreachable.map(({ file }) => file)).toEqual(['docs/index.md', 'docs/zh-CN/index.md']);
});
