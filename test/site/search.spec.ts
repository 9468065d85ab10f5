import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import MiniSearch from 'minisearch';
import { miniSearch } from '../../docs/.vitepress/search.mjs';

const chunks = join(__dirname, '../../.cache/site/assets/chunks');
/** What the theme's search box sets by itself, for the MiniSearch that VitePress brings. */
const FIELDS = { fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'] };

/** The index of a language, searched with the options of the site as they arrive in the browser. */
function searchOf(locale: string): (query: string) => readonly string[] {
  const file = readdirSync(chunks).find((name) => name.startsWith(`@localSearchIndex${locale}.`));
  const script = readFileSync(join(chunks, file ?? `no index of ${locale}`), 'utf8');
  const json = runInNewContext(script.replace(/export\s*\{\s*(\w+) as default\s*\};?\s*$/, '$1')) as string;
  const { options, searchOptions } = inTheBrowser(miniSearch);
  const index = MiniSearch.loadJSON(json, { ...FIELDS, searchOptions, ...options });
  return (query) => index.search(query).map(({ id }) => String(id).replace(/\.html|#.*/g, ''));
}

/** The options after VitePress has passed them as text: a function that refers to anything outside of itself fails. */
function inTheBrowser<T extends object>(options: T): T {
  const entries = Object.entries(options).map(([name, value]: [string, unknown]) => {
    if (typeof value === 'function') return [name, runInNewContext(`(${String(value)})`)];
    return [name, typeof value === 'object' && value !== null ? inTheBrowser(value) : value];
  });
  return Object.fromEntries(entries) as T;
}

describe('the search of the site', () => {
  it.each([
    ['my lock is stuck', '/operate/runbook'],
    ['who holds the lock', '/operate/runbook'],
    ['CROSSSLOT', '/troubleshooting'],
    ['NOPERM', '/troubleshooting'],
    ['oversell', '/troubleshooting'],
    ['cron runs twice', '/troubleshooting'],
    ['423', '/guide/errors'],
    ['retry-after', '/guide/errors'],
    ['lost', '/operate/runbook'],
    ['eviction', '/operate/runbook'],
    ['failover', '/operate/runbook'],
    ['redis is down', '/operate/shutdown-and-outages'],
    ['shutdown', '/operate/shutdown-and-outages'],
    ['kubernetes', '/operate/production'],
    ['health check', '/operate/metrics'],
    ['metrics', '/operate/metrics'],
    ['deadlocks', '/guide/several-names'],
    ['several locks', '/guide/several-names'],
    ['semaphore', '/guide/readers-and-semaphores'],
    ['leader election', '/guide/service'],
    ['multi tenant', '/guide/keys'],
    ['unit test mock', '/guide/testing'],
    ['node-redis', '/guide/connections'],
    ['ConfigService', '/quick-start'],
    ['fencing token', '/guarantees'],
    ['typeorm', '/recipes/fencing'],
    ['the cache stampede', '/recipes/cache-rebuild'],
    ['bullmq', '/recipes/bullmq-per-customer'],
    ['transactions', '/recipes/transactions'],
  ])('leads from "%s" to %s first', (query, page) => {
    expect(searchOf('root')(query)[0]).toBe(page);
  });

  it.each([
    ['我的锁卡住了怎么办', '/zh-CN/operate/runbook'],
    ['锁丢失', '/zh-CN/operate/runbook'],
    ['定时任务', '/zh-CN/recipes/cron'],
    ['缓存击穿', '/zh-CN/recipes/cache-rebuild'],
    ['优雅停机', '/zh-CN/operate/shutdown-and-outages'],
    ['阿里云', '/zh-CN/operate/hosted'],
  ])('leads from "%s" to %s first', (query, page) => {
    expect(searchOf('zh-CN')(query)[0]).toBe(page);
  });

  it('shows members of the API after the guide', () => {
    const found = searchOf('root')('tryAcquire');
    const api = found.findIndex((page) => page.startsWith('/api/'));
    expect(found.slice(0, api)).toContain('/guide/service');
    expect(found.slice(api, 16)).toContain('/api/index/classes/LockService');
  });
});
