import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { findChromium, startChromium } from '../../sample/01-flash-sale/screenshot/chromium.js';
import { waitFor } from '../support/wait-for.js';
import { BuiltSite } from './built-site.js';

/** One page of each kind: what it is like, and where. */
const TEMPLATES = [
  ['the first page', '/'],
  ['tables and code', '/guide/options.html'],
  ['a drawing', '/how-it-works/protocol.html'],
  ['charts', '/compare.html'],
  ['a class of the API', '/api/index/classes/LockService.html'],
  ['a page that is not there', '/nothing-of-this-name.html'],
] as const;

const program = findChromium();

(program === undefined ? describe.skip : describe)('the site', () => {
  let browser: Browser;
  let site: BuiltSite;
  let context: BrowserContext;
  let page: Page;
  /** Requests of any test that left the site. */
  const foreign: string[] = [];

  beforeAll(async () => {
    browser = await startChromium(program ?? '');
    site = await BuiltSite.serve();
  });
  afterAll(async () => {
    await browser.close();
    await site[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    context = await browser.newContext({ reducedMotion: 'reduce' });
    page = await context.newPage();
    page.on('request', (request) => {
      if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(site.url))
        foreign.push(request.url());
    });
  });
  afterEach(() => context.close());

  it('finds what "fencing" means, by the keyboard alone', async () => {
    await page.goto(site.url);
    const box = page.locator('.VPLocalSearchBox input');
    await waitFor(
      async () => {
        await page.keyboard.press('Control+k'); // of no effect before the page's scripts run
        return box.isVisible();
      },
      { that: 'the search to open' },
    );
    await page.keyboard.type('fencing');
    const results = page.locator('.VPLocalSearchBox .result');
    await results.first().waitFor();
    expect(await results.allTextContents()).toContainEqual(expect.stringMatching(/Guarantees/));
    await page.keyboard.press('Enter');
    await page.waitForURL(/\.html/);
    await page
      .locator('main')
      .getByText(/fencing/i)
      .first()
      .waitFor();
  });

  it('leads past its menus to the text, by the keyboard', async () => {
    await page.goto(`${site.url}/guide/options.html`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(new URL(page.url()).hash).toBe('#VPContent');
    await page.keyboard.press('Tab');
    const inside = 'document.querySelector("#VPContent").contains(document.activeElement)';
    expect(await page.evaluate(inside)).toBe(true);
  });

  it.each(TEMPLATES)('has no violation that axe knows in %s, light and dark', async (_what, path) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(site.url + path);
      const { violations } = await new AxeBuilder({ page }).analyze();
      const said = violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => [id, html, failureSummary]),
      );
      expect(said).toEqual([]);
    }
  });

  it.each(TEMPLATES)('fits into 360 px with %s', async (_what, path) => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(site.url + path);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  });

  it('opens its menu of pages at 360 px, and closes it with Escape', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${site.url}/guide/options.html`);
    const menu = page.locator('.VPLocalNav .menu');
    await menu.focus();
    await page.keyboard.press('Enter');
    await page.locator('.VPSidebar.open').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.VPSidebar:not(.open)').waitFor({ state: 'attached' });
    expect(await page.locator('.VPSidebar.open').count()).toBe(0);
  });

  it('shows every page without an error, and asks no other host for anything', async () => {
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(`${page.url()}: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(`${page.url()}: ${message.text()}`);
    });
    for (const path of BuiltSite.pages.filter((each) => each !== '404.html')) {
      await page.goto(`${site.url}/${path}`);
      await page.locator('main, .VPHome').first().waitFor();
    }
    expect(errors).toEqual([]);
    expect(foreign).toEqual([]);
  });
});
