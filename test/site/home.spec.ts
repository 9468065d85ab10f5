import { gzipSync } from 'node:zlib';
import manifest from '../../package.json';
import { BuiltSite } from './built-site.js';
import { describeInBrowser } from './site-in-browser.js';

const SHIFTS = `new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) sum += value;
  }).observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => resolve(sum), 500); // after the page's scripts, its picture and its font
})`;

describeInBrowser('the first page', (site) => {
  it.each(['light', 'dark'] as const)('weighs at most 300 kB, compressed (%s)', async (colorScheme) => {
    const { page } = site;
    const weights = new Map<string, number>();
    page.on('response', (response) => {
      const { pathname } = new URL(response.url());
      // Pages that the reader may open next are loaded when nothing else is to do.
      if (response.request().headers()['purpose'] === 'prefetch') return;
      const path = pathname === '/' ? 'index.html' : pathname.slice(1);
      weights.set(path, gzipSync(BuiltSite.bytes(path)).length);
    });
    await page.emulateMedia({ colorScheme });
    await page.goto(site.url, { waitUntil: 'load' });
    await page.locator(`.picture .${colorScheme}-only`).evaluate('picture => picture.decode()');
    expect([...weights.keys()].filter((path) => path.endsWith('.png'))).toHaveLength(1);
    expect([...weights.values()].reduce((sum, weight) => sum + weight, 0)).toBeLessThanOrEqual(300_000);
  });

  it.each([1280, 360])('does not move while it loads, at %d px', async (width) => {
    const { page } = site;
    await page.setViewportSize({ width, height: 740 });
    await page.goto(site.url);
    expect(await page.evaluate(SHIFTS)).toBeLessThan(0.01);
  });

  it('offers the command of each package manager, to copy', async () => {
    const { page } = site;
    await site.open('/');
    const group = page.locator('.vp-code-group');
    const seen: string[] = [];
    for (const tab of ['npm', 'pnpm', 'yarn', 'bun']) {
      await group.locator(`label[data-title=${tab}]`).click();
      seen.push((await group.locator('.active code').textContent()) ?? '');
      expect(await group.locator('.active button.copy').count()).toBe(1);
    }
    const packages = 'nest-redis-lock ioredis';
    expect(seen).toEqual([
      `npm i ${packages}`,
      `pnpm add ${packages}`,
      `yarn add ${packages}`,
      `bun add ${packages}`,
    ]);
  });

  it('names the version of the package', async () => {
    const { page } = site;
    await page.goto(site.url);
    expect(await page.locator('.VPNavBar').textContent()).toContain(`v${manifest.version}`);
  });
});
