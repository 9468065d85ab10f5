import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const docs = fileURLToPath(new URL('..', import.meta.url));
const root = join(docs, '..');

/**
 * Makes links to files outside of `docs` lead into the repository. Where that has no address yet, their text is plain.
 *
 * @param {import('vitepress').MarkdownRenderer} md
 * @param {string | null} repository its address, as a browser opens it
 * @throws Error when there is no such file
 */
export function repositoryLinks(md, repository) {
  md.core.ruler.push('repository_links', ({ tokens, env }) => {
    let plain = false;
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === 'link_open') {
        const { page, file } = targetOf(env.path ?? docs, token.attrGet('href') ?? '');
        if (page !== undefined) token.attrSet('href', page);
        if (file === undefined) continue;
        plain = repository === null;
        if (plain) token.tag = 'span';
        token.attrs = plain ? [] : [['href', `${repository}/blob/main/${file}`]];
      } else if (token.type === 'link_close' && plain) {
        token.tag = 'span';
        plain = false;
      }
    }
  });
}

/**
 * Where a link leads that VitePress cannot follow by itself: to a file of the repository, or to a page from what another
 * page includes.
 *
 * @param {string} page
 * @param {string} link
 * @returns {{ page?: string; file?: string }}
 */
function targetOf(page, link) {
  if (/^(?:[a-z]+:|#|\/)/.test(link)) return {};
  const [path = '', anchor] = link.split('#');
  const beside = resolve(dirname(page), decodeURI(path));
  const fromRoot = resolve(root, decodeURI(path));
  const file = [beside, fromRoot].find((each) => existsSync(each));
  if (file === undefined && !beside.startsWith(docs)) throw new Error(`${page}: ${link} does not exist.`);
  if (file === undefined || (file === beside && file.startsWith(docs))) return {};
  const end = anchor === undefined ? '' : `#${anchor}`;
  if (file.startsWith(docs)) return { page: `/${pathFrom(docs, file)}${end}` };
  return { file: pathFrom(root, file) + end };
}

/**
 * @param {string} folder
 * @param {string} file
 */
function pathFrom(folder, file) {
  return relative(folder, file).split(sep).join('/');
}
