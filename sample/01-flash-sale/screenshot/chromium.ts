import { type Browser, chromium } from 'playwright-core';
import which from 'which';

/** What it is called on PATH, by the system. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The Chromium that `CHROMIUM` names, else the one on PATH, if there is one. */
export function findChromium(): string | undefined {
  const names = process.env.CHROMIUM ? [process.env.CHROMIUM] : NAMES;
  return names.map((name) => which.sync(name, { nothrow: true })).find((path) => path !== null) ?? undefined;
}

/** Starts it without a window. */
export async function startChromium(executablePath: string): Promise<Browser> {
  // Its sandbox refuses to work for root.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args });
}
