import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { findChromium, startChromium } from './chromium.js';

const SCHEMES = ['light', 'dark'] as const;
/** Pixels of the page: few more than a README has for it, so that its letters are read there. */
const WIDTH = 880;
/** Leaves what the sale came to: headline, chart and outcomes. */
const CROP = `
  .bar, .controls, .trouble, .product, .instances, .source, .onward { display: none !important }
  .hero { grid-template-columns: minmax(0, 1fr) !important; margin: 0 !important }
  body { padding-block: 24px !important }
  h1, .explanation { min-height: 0 !important; max-width: none !important; margin-bottom: 0 !important }`;

/** Makes the pictures of the READMEs when a sale without the lock and one with it are over. */
async function main(): Promise<void> {
  const executable = findChromium();
  if (executable === undefined) throw new Error('This needs Chromium: install it, or name it in CHROMIUM');
  const sample = fork(join(__dirname, '..', 'run.ts'), ['--json'], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  try {
    const url = await firstUrl(sample.stdout);
    const browser = await startChromium(executable);
    try {
      for (const scheme of SCHEMES) await take(browser, url, scheme);
    } finally {
      await browser.close();
    }
  } finally {
    sample.kill('SIGINT');
    await once(sample, 'exit');
  }
}

async function firstUrl(output: NodeJS.ReadableStream | null): Promise<string> {
  if (output === null) throw new Error('The sample has no output');
  for await (const line of createInterface(output)) return JSON.parse(line).urls[0];
  throw new Error('The sample ended before it served');
}

async function take(browser: Browser, url: string, colorScheme: (typeof SCHEMES)[number]): Promise<void> {
  const page = await browser.newPage({
    viewport: { width: WIDTH, height: 400 },
    deviceScaleFactor: 2,
    colorScheme,
    bypassCSP: true,
  });
  await page.goto(url);
  const rush = page.locator('.rush[aria-disabled=false]');
  await sale(page, () => rush.click());
  await page.getByRole('switch').click();
  await sale(page, () => rush.click());
  await page.addStyleTag({ content: CROP });
  const picture = await page.screenshot({ fullPage: true, animations: 'disabled' });
  await sharp(picture)
    .png({ palette: true, effort: 10, compressionLevel: 9 })
    .toFile(join(__dirname, `page-${colorScheme}.png`));
  await page.close();
}

/** Waits for the end of a sale that is started. */
async function sale(page: Page, start: () => Promise<void>): Promise<void> {
  await start();
  await page.locator('.rush[aria-disabled=true]').waitFor();
  await page.locator('.rush[aria-disabled=false]').waitFor({ timeout: 60_000 });
}

void main();
