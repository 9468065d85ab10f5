import type { Browser, BrowserContext, Page } from 'playwright-core';
import { findChromium, startChromium } from '../../sample/01-flash-sale/screenshot/chromium.js';
import { BuiltSite } from './built-site.js';

/** One page of each kind: what it is like, and where. */
export const TEMPLATES = [
  ['the first page', '/'],
  ['tables and code', '/guide/options.html'],
  ['a drawing', '/how-it-works/protocol.html'],
  ['charts', '/compare.html'],
  ['a page in Chinese', '/zh-CN/quick-start.html'],
  ['the first page of the API', '/api/'],
  ['a class of the API', '/api/index/classes/LockService.html'],
  ['a page that is not there', '/nothing-of-this-name.html'],
] as const;

/** Every how many pages one is tried: a browser takes a second for each. */
export const EVERY = Number(process.env['SITE_EVERY'] ?? 1);

export function sampleOf<T>(pages: readonly T[]): readonly T[] {
  return pages.filter((_, index) => index % EVERY === 0);
}

/** What a test has of the site in a browser. */
interface SiteInBrowser {
  readonly url: string;
  /** A page of a new context. */
  readonly page: Page;
  /** Opens a path of the site in `page`, and waits until the page's scripts answer clicks and keys. */
  open(path: string): Promise<void>;
}

/** Tests of the built site in a browser, skipped where there is none. No page may ask another host for anything. */
export function describeInBrowser(title: string, describeTests: (site: SiteInBrowser) => void): void {
  const program = findChromium();
  const [suite, reason] =
    program === undefined ? [describe.skip, ' (skipped: there is no Chromium)'] : [describe, ''];
  suite(title + reason, () => {
    let browser: Browser;
    let served: BuiltSite;
    let context: BrowserContext;
    let page: Page;
    const foreign: string[] = [];

    beforeAll(async () => {
      browser = await startChromium(program ?? '');
      served = await BuiltSite.serve();
    });
    afterAll(async () => {
      await browser.close();
      await served[Symbol.asyncDispose]();
    });
    beforeEach(async () => {
      context = await browser.newContext({ reducedMotion: 'reduce' });
      page = await context.newPage();
      page.on('request', (request) => {
        if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(served.url))
          foreign.push(request.url());
      });
    });
    afterEach(async () => {
      await context.close();
      expect(foreign.splice(0)).toEqual([]);
    });

    describeTests({
      get url() {
        return served.url;
      },
      get page() {
        return page;
      },
      async open(path) {
        await page.goto(served.url + path);
        // The router takes clicks over before the components do: a click in between gets lost.
        await page.waitForFunction('document.querySelector("#app").__vue_app__ !== undefined');
      },
    });
  });
}
