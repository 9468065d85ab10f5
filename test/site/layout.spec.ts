import { BuiltSite } from './built-site.js';
import { describeInBrowser, EVERY, sampleOf, TEMPLATES } from './site-in-browser.js';

/** The written pages, and of the API one page of each kind. */
const paths = sampleOf([
  ...BuiltSite.pages.filter((path) => !path.startsWith('api/')).map((path) => `/${path}`),
  ...TEMPLATES.map(([, path]) => path),
]);

/** What a page of the site does with its width. */
interface Widths {
  readonly page: number;
  /** Blocks of code of which a reader sees the ends of lines only by scrolling. */
  readonly code: number;
  /** Tables and drawings, likewise. */
  readonly scrolling: readonly string[];
  /** Tables, drawings and pictures that reach beyond the window. */
  readonly cut: readonly string[];
}

const WIDTHS = `(() => {
  const all = (selector) => [...document.querySelectorAll(selector)].filter((each) => each.clientWidth > 0);
  const scrolls = (each) => each.scrollWidth > each.clientWidth + 1;
  const name = (each) => each.tagName + ': ' + each.textContent.trim().slice(0, 20);
  return {
    page: document.documentElement.scrollWidth,
    code: all('.vp-doc pre').filter(scrolls).length,
    scrolling: all('.vp-doc table, .vp-doc .drawing').filter(scrolls).map(name),
    cut: all('.vp-doc table, .vp-doc .drawing, .vp-doc img')
      .filter((each) => each.getBoundingClientRect().right > innerWidth)
      .map(name),
  };
})()`;

describeInBrowser('the layout of the site', (site) => {
  async function widthsAt(width: number): Promise<[string, Widths][]> {
    const { page } = site;
    await page.setViewportSize({ width, height: 740 });
    const seen: [string, Widths][] = [];
    for (const path of paths) {
      await page.goto(site.url + path, { waitUntil: 'domcontentloaded' });
      seen.push([path, await page.evaluate<Widths>(WIDTHS)]);
    }
    return seen;
  }

  it('shows whole tables, drawings and lines of code at 1280 px', async () => {
    const whole = { page: 1280, code: 0, scrolling: [], cut: [] };
    expect(await widthsAt(1280)).toEqual(paths.map((path) => [path, whole]));
  });

  it('lets only tables and drawings scroll at 360 px', async () => {
    const seen = await widthsAt(360);
    const fitting = { page: 360, code: 0, cut: [] };
    expect(seen.map(([path, { page, code, cut }]) => [path, { page, code, cut }])).toEqual(
      paths.map((path) => [path, fitting]),
    );
    expect(seen.filter(([, { scrolling }]) => scrolling.length > 0).length).toBeGreaterThan(5 / EVERY);
  });

  it('keeps the names of the rows in view while a table scrolls at 360 px', async () => {
    const { page } = site;
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${site.url}/compare.html`);
    const cell = page.locator('.vp-doc table td').first();
    const before = await cell.boundingBox();
    await page.locator('.vp-doc table').first().evaluate('table => { table.scrollLeft = 300; }');
    expect((await cell.boundingBox())?.x).toBeCloseTo(before?.x ?? 0, 0);
  });
});
