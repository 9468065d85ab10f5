import { searchWords } from './search-words.mjs';

/**
 * How the site's search reads pages and queries, and how it ranks their sections: first those for a task or a symptom, then
 * explanations, then the API. VitePress passes the source text of these functions to the browser, so none of them may refer
 * to anything outside of itself.
 *
 * @type {Record<'options' | 'searchOptions', Partial<import('minisearch').Options> & import('minisearch').SearchOptions>}
 */
export const miniSearch = {
  options: {
    fields: ['title', 'titles', 'text', 'words'],
    // The words of search-words.mjs stand in ⟦ ⟧ below their heading.
    extractField: (section, field) => {
      if (field === 'words') return /⟦(.*)⟧/s.exec(section.text)?.[1] ?? '';
      return field === 'text' ? section.text.replace(/⟦.*⟧/s, '') : section[field];
    },
    // Chinese has no spaces: each two neighbouring characters are a term. Every page is about locks on Redis: these words
    // count only in a query without another word.
    tokenize: (text) => {
      const words = (
        text.replaceAll(/&#?\w+;/g, ' ').match(/\p{sc=Han}+|(?:(?!\p{sc=Han})[\p{L}\p{N}])+/gu) ?? []
      ).flatMap((word) =>
        /\p{sc=Han}{2}/u.test(word)
          ? Array.from(word.matchAll(/(?=(..))/gu), ([, pair = '']) => pair)
          : [word],
      );
      const telling = words.filter((word) => !/^(?:locks?|redis)$/i.test(word));
      return telling.length === 0 ? words : telling;
    },
    processTerm: (term) => {
      const word = term.toLowerCase();
      const stopWords =
        'a an and are as at be been by can do does for from get has have how i if in is it its me my of on one or our s so t than that the their them then there they this to use was we what when where which who why will with you your 我的 的锁 怎么 么办 如何 什么 为什 一个 可以 了吗';
      if (stopWords.split(' ').includes(word)) return null;
      return word.length > 3 ? word.replace(/(?<![siu])s$/, '') : word;
    },
  },
  searchOptions: {
    prefix: (term) => term.length > 2 || /\p{sc=Han}/u.test(term),
    // One wrong letter of a longer word: `lost` is not `most`, 423 is not 503.
    fuzzy: (term) => (/^[a-z]{6,}$/.test(term) ? 1 : false),
    boost: { title: 3, titles: 2, text: 1, words: 10 },
    boostDocument: (id) => {
      if (id.includes('/api/')) return 0.1;
      if (/\/(?:how-it-works|migrating|compare|versions|operate\/cli)/.test(id)) return 0.5;
      if (id.includes('/operate/runbook')) return 2;
      return /\/guide\/(?:errors|which-lock)|\/guarantees/.test(id) ? 1.5 : 1;
    },
    // A section is long because its table answers many questions.
    bm25: { k: 1.2, b: 0.3, d: 0.5 },
  },
};

/**
 * What the search reads of a page. Of the API it reads a section for each symbol and member: headings such as "Parameters"
 * and "Returns" are on every page.
 *
 * @param {string} source
 * @param {{ relativePath: string }} env
 * @param {{ render(source: string, env: object): string }} md
 */
export function searchableText(source, env, md) {
  const html = md.render(source, env);
  if (env.relativePath.startsWith('api/')) return html.replaceAll(/<h([4-6]) .*?<\/h\1>/gs, '');
  return html.replaceAll(/<h(\d) id="([^"]*)".*?<\/h\1>/gs, (heading, level, anchor) => {
    const words = searchWords[level === '1' ? env.relativePath : `${env.relativePath}#${anchor}`];
    return words === undefined ? heading : `${heading}⟦${words}⟧`;
  });
}
