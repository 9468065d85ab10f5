import { AxeBuilder } from '@axe-core/playwright';
import { describeInBrowser, sampleOf, TEMPLATES } from './site-in-browser.js';

describeInBrowser('the site for everybody', (site) => {
  it.each(sampleOf(TEMPLATES))(
    'has no violation that axe knows in %s, light and dark',
    async (_what, path) => {
      const { page } = site;
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.goto(site.url + path);
        const { violations } = await new AxeBuilder({ page }).analyze();
        const said = violations.flatMap(({ id, nodes }) =>
          nodes.map(({ html, failureSummary }) => [id, html, failureSummary]),
        );
        expect(said).toEqual([]);
      }
    },
  );
});
