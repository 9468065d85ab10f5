import { waitFor } from '../support/wait-for.js';
import { BuiltSite } from './built-site.js';
import { describeInBrowser, sampleOf } from './site-in-browser.js';

describeInBrowser('the site', (site) => {
  it('finds the meaning of "fencing", by the keyboard alone', async () => {
    const { page } = site;
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
    const { page } = site;
    await site.open('/guide/options.html');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#VPContent$/);
    await page.keyboard.press('Tab');
    const inside = 'document.querySelector("#VPContent").contains(document.activeElement)';
    expect(await page.evaluate(inside)).toBe(true);
  });

  it('opens its menu of pages at 360 px, and closes it with Escape', async () => {
    const { page } = site;
    await page.setViewportSize({ width: 360, height: 740 });
    await site.open('/guide/options.html');
    const menu = page.locator('.VPLocalNav .menu');
    await menu.focus();
    await page.keyboard.press('Enter');
    await page.locator('.VPSidebar.open').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.VPSidebar:not(.open)').waitFor({ state: 'attached' });
    expect(await page.locator('.VPSidebar.open').count()).toBe(0);
  });

  it('shows every page without an error, and sends requests to no other host', async () => {
    const { page } = site;
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(`${page.url()}: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(`${page.url()}: ${message.text()}`);
    });
    for (const path of sampleOf(BuiltSite.pages.filter((each) => each !== '404.html'))) {
      await page.goto(`${site.url}/${path}`);
      await page.locator('main, .VPHome').first().waitFor();
    }
    expect(errors).toEqual([]);
    // There are many: how long that takes is up to the machine.
  }, 600_000);
});
