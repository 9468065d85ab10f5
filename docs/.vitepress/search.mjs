/**
 * How the site's search reads pages and queries, and how it ranks their sections: first those for a task or a symptom, then
 * explanations, then the API. VitePress passes the source text of these functions to the browser, so none of them may refer
 * to anything outside of itself.
 *
 * @type {NonNullable<import('vitepress').DefaultTheme.LocalSearchOptions['miniSearch']>}
 */
export const miniSearch = {
  options: {
    // Chinese has no spaces: each two neighbouring characters are a term.
    tokenize: (text) =>
      (text.replaceAll(/&#?\w+;/g, ' ').match(/\p{sc=Han}+|(?:(?!\p{sc=Han})[\p{L}\p{N}])+/gu) ?? []).flatMap(
        (word) =>
          /\p{sc=Han}{2}/u.test(word)
            ? Array.from(word.matchAll(/(?=(..))/gu), ([, pair = '']) => pair)
            : [word],
      ),
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
    boost: { title: 3, titles: 2, text: 1 },
    boostDocument: (id) => {
      if (id.includes('/api/')) return 0.1;
      if (/\/(?:how-it-works|migrating|compare|versions|operate\/cli)/.test(id)) return 0.5;
      if (/\/(?:troubleshooting|operate\/runbook)/.test(id)) return 2;
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
 * @type {NonNullable<import('vitepress').DefaultTheme.LocalSearchOptions['_render']>}
 */
export function searchableText(source, env, md) {
  const html = md.render(source, env);
  return env.relativePath.startsWith('api/') ? html.replaceAll(/<h([4-6]) .*?<\/h\1>/gs, '') : html;
}
