import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser } from 'playwright-core';
import sharp from 'sharp';
import { findChromium, startChromium } from './chromium.js';

const SCHEMES = ['light', 'dark'] as const;
/** Makes the pictures of the READMEs from a sale without the lock and one with it. */
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
    viewport: { width: 1200, height: 800 },
    deviceScaleFactor: 2,
    colorScheme,
    reducedMotion: 'no-preference',
  });
  // The page must stand still at the moment to show.
  await page.addInitScript(`
    window.EventSource = class extends EventSource {
      constructor(...args) { super(...args); window.pictures = this; }
    }`);
  await page.goto(url);
  const rush = page.locator('.rush[aria-disabled=false]');
  await rush.click();
  await page.locator('.rush[aria-disabled=true]').waitFor();
  await rush.waitFor();
  await page.getByRole('switch').click();
  await rush.click();
  // The moment to show: all is sold with the lock, and the last buyers still wait for their answers.
  await page.waitForFunction(
    (html) => {
      const count = (selector: string) => html.querySelectorAll(selector).length;
      const soldOut = html.querySelector('#stock').textContent === '0';
      if (!soldOut || count('[data-state=holder]') !== 1 || count('[data-state=waiter]') !== 2) return false;
      html.ownerDocument.defaultView.pictures.close();
      return true;
    },
    await page.locator('html').elementHandle(),
    { timeout: 60_000 },
  );
  await page.mouse.move(0, 0);
  const picture = await page.screenshot({ fullPage: true, animations: 'disabled' });
  await sharp(picture)
    .png({ palette: true, effort: 10, compressionLevel: 9 })
    .toFile(join(__dirname, `page-${colorScheme}.png`));
  await page.close();
}

void main();
