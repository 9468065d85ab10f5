import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/** The part of the browser's type that runs in the page. */
interface PageElement {
  readonly outerHTML: string;
  getBoundingClientRect(): { readonly right: number };
}

/** Accessibility rules that the page violates, with the elements. */
export async function violations(page: Page): Promise<string[]> {
  const found = await new AxeBuilder({ page }).analyze();
  return found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** Makes the page as wide as a phone. Returns the elements that do not fit. */
export async function beyondPhone(page: Page): Promise<string[]> {
  await page.setViewportSize({ width: 360, height: 780 });
  return page.locator('html').evaluate((html) => {
    const elements = Array.from(html.querySelectorAll('body *'), (element: PageElement) => element);
    const beyond = elements.filter((element) => element.getBoundingClientRect().right > 360);
    return [...beyond.map(({ outerHTML }) => outerHTML), ...(html.scrollWidth > 360 ? ['scrolls'] : [])];
  });
}
