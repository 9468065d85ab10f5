/**
 * Where the project is, as `docs/.vitepress/site.json` says it; null is not known yet.
 *
 * @typedef {{ repository: string | null; homepage: string | null }} Addresses
 */

/**
 * The fields of package.json that name addresses.
 *
 * @typedef {{ repository?: { type: string; url: string }; homepage?: string; bugs?: { url: string } }} AddressFields
 */

/** A link or a picture of Markdown, and the source of a picture of HTML, up to where it leads. */
const TARGET = /(!?\[[^\]]*\]\(|\]\(|\b(?:src|srcset)=")([^)\s"]+)/g;

/**
 * @param {Addresses} addresses
 * @returns {AddressFields}
 */
export function addressFields({ repository, homepage }) {
  if (repository === null) return {};
  return {
    repository: { type: 'git', url: `git+${repository}.git` },
    homepage: homepage ?? `${repository}#readme`,
    bugs: { url: `${repository}/issues` },
  };
}

/**
 * The addresses that such fields were made of.
 *
 * @param {AddressFields} fields
 * @returns {Addresses}
 */
export function addressesOf({ repository, homepage }) {
  const address = repository?.url.replace(/^git\+/, '').replace(/\.git$/, '') ?? null;
  return { repository: address, homepage: homepage === `${address}#readme` ? null : (homepage ?? null) };
}

/**
 * A document of the repository's root with links that lead there from wherever it is shown: to pages of the site, and to
 * files of the repository. Without addresses it is as it was.
 *
 * @param {string} markdown
 * @param {Addresses} addresses
 */
export function withAddresses(markdown, { repository, homepage }) {
  if (repository === null) return markdown;
  return markdown.replaceAll(TARGET, (whole, /** @type {string} */ before, /** @type {string} */ target) => {
    if (/^(?:[a-z]+:|#)/.test(target)) return whole;
    const page = /^docs\/(.*?)(?:(index)?\.md)(#.*)?$/.exec(target);
    if (page && homepage !== null) {
      const [, path = '', index, anchor = ''] = page;
      return `${before}${homepage.replace(/\/$/, '')}/${path}${index === undefined ? '.html' : ''}${anchor}`;
    }
    const kind = before.startsWith('[') || before === '](' ? 'blob' : 'raw';
    return `${before}${repository}/${kind}/main/${target}`;
  });
}

/**
 * The same document with the links of the repository again.
 *
 * @param {string} markdown
 * @param {Addresses} addresses that it was given
 */
export function withoutAddresses(markdown, { repository, homepage }) {
  return markdown.replaceAll(TARGET, (whole, /** @type {string} */ before, /** @type {string} */ target) => {
    for (const kind of ['blob', 'raw']) {
      const start = `${repository}/${kind}/main/`;
      if (target.startsWith(start)) return before + target.slice(start.length);
    }
    const site = homepage === null ? null : `${homepage.replace(/\/$/, '')}/`;
    if (site === null || !target.startsWith(site)) return whole;
    const [path = '', anchor] = target.slice(site.length).split('#');
    const file = path.endsWith('.html') ? path.replace(/\.html$/, '.md') : `${path}index.md`;
    return `${before}docs/${file}${anchor === undefined ? '' : `#${anchor}`}`;
  });
}
