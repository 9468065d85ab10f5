import { runInNewContext } from 'node:vm';
import MiniSearch from 'minisearch';
import { searchWords } from '../../docs/.vitepress/search-words.mjs';
import { miniSearch } from '../../docs/.vitepress/search.mjs';
import { renderedPages } from './rendered-pages.js';
import { CHINESE, ENGLISH, FURTHER } from './search-queries.js';

const { indexes } = renderedPages();
/** What the theme's search box sets by itself. */
const FIELDS = { fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'] };

/** The index of a language, searched with the options of the site as they arrive in the browser. */
function searchOf(locale: string): (query: string) => readonly string[] {
  const { options, searchOptions } = inTheBrowser(miniSearch);
  const index = MiniSearch.loadJSON(JSON.stringify(indexes[locale]), {
    ...FIELDS,
    searchOptions,
    ...options,
  });
  return (query) => index.search(query).map(({ id }) => String(id).replace('.html', ''));
}

/** The options after VitePress has passed them as text: a function that refers to anything outside of itself fails. */
function inTheBrowser<T extends object>(options: T): T {
  const entries = Object.entries(options).map(([name, value]: [string, unknown]) => {
    if (typeof value === 'function') return [name, runInNewContext(`(${String(value)})`)];
    return [name, value?.constructor === Object ? inTheBrowser(value) : value];
  });
  return Object.fromEntries(entries) as T;
}

/** Whether a result is this page, or this section of it. */
function leadsTo(place: string): (id: string) => boolean {
  return (id) => id === place || id.startsWith(`${place}#`);
}

describe('the search of the site', () => {
  const english = searchOf('root');
  const chinese = searchOf('zh-CN');

  it.each([...ENGLISH, ...FURTHER, ...CHINESE])('leads from "%s" to %s', (query, place) => {
    const places = [place].flat();
    const found = places[0]?.startsWith('/zh-CN/') ? chinese(query) : english(query);
    const among = places.length === 1 ? found.slice(0, 1) : found.slice(0, 3);
    expect(places.map((each) => among.find(leadsTo(each)) ?? among)).toEqual(
      places.map((each) => expect.stringContaining(each) as string),
    );
  });

  it('knows 40 queries of users of other packages', () => {
    expect(ENGLISH.length).toBeGreaterThanOrEqual(40);
  });

  it('finds pages for the words that all of them have', () => {
    for (const word of ['lock', 'redis', 'redis lock', 'nestjs']) expect(english(word)).not.toEqual([]);
  });

  it('has words for pages and headings that exist', () => {
    const sections = Object.values(indexes).flatMap((index) =>
      Object.values((index as { documentIds: Record<string, string> }).documentIds),
    );
    const known = new Set(sections.flatMap((id) => [id, id.split('#')[0]]));
    const paths = Object.keys(searchWords).map(
      (key) => `/${key.replace(/(index)?\.md/, (_, index?: string) => (index ? '' : '.html'))}`,
    );
    expect(paths.filter((path) => !known.has(path))).toEqual([]);
  });

  it('shows members of the API after the guide', () => {
    const pages = english('tryAcquire').map((id) => id.split('#')[0]);
    const api = pages.findIndex((page) => page?.startsWith('/api/'));
    expect(pages.slice(0, api)).toContain('/guide/service');
    expect(pages.slice(api, 16)).toContain('/api/index/classes/LockService');
  });
});
