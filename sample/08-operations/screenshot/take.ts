import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import sharp from 'sharp';
import { findChromium, startChromium } from '../../01-flash-sale/screenshot/chromium.js';

const SCHEMES = ['light', 'dark'] as const;
/** Milliseconds for which the page listens, so that it has something to tell. */
const TIMEOUT = 20_000;

/** Makes the pictures of the README from the page of one instance. */
async function main(): Promise<void> {
  const executable = findChromium();
  if (executable === undefined) throw new Error('This needs Chromium: install it, or name it in CHROMIUM');
  const sample = fork(join(__dirname, '..', 'run.ts'), ['--json'], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  try {
    const { url, password } = await started(sample.stdout);
    await using browser = await startChromium(executable);
    for (const colorScheme of SCHEMES) {
      const page = await browser.newPage({
        viewport: { width: 1000, height: 1240 },
        deviceScaleFactor: 2,
        colorScheme,
        httpCredentials: { username: 'operator', password },
      });
      await page.goto(`${url}/locks`);
      await delay(TIMEOUT);
      const picture = await page.screenshot();
      await sharp(picture)
        .png({ palette: true, effort: 10, compressionLevel: 9 })
        .toFile(join(__dirname, `page-${colorScheme}.png`));
      await page.close();
    }
  } finally {
    sample.kill('SIGINT');
    await once(sample, 'exit');
  }
}

async function started(output: NodeJS.ReadableStream | null): Promise<{ url: string; password: string }> {
  if (output === null) throw new Error('The sample has no output');
  for await (const line of createInterface(output)) {
    const { urls, password } = JSON.parse(line);
    return { url: urls[0], password };
  }
  throw new Error('The sample ended before it served');
}

void main();
