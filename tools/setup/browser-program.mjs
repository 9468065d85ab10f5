// Finds a Chromium for the tests of pages, or gets one.
import { installFromDebian } from './debian-package.mjs';

/** @typedef {import('./system.mjs').System} System */

/** What it is called on PATH, by the system. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * Makes sure that a Chromium can be started, where that is possible: the one that CHROMIUM names, or one on PATH, or
 * the one of the system's package source. Without one the tests that need it are skipped.
 *
 * @param {System} system
 * @throws Error when CHROMIUM names something else
 */
export function provideBrowserProgram(system) {
  const named = system.env['CHROMIUM'];
  if (named) {
    if (isBrowser(named, system)) return;
    throw new Error(
      `CHROMIUM names ${named}, which is no Chromium. Correct it, or unset it to use the one on PATH.`,
    );
  }
  if (NAMES.some((name) => isBrowser(name, system))) return;
  if (installFromDebian('chromium', system) && isBrowser('chromium', system)) return;
  system.say(
    'There is no Chromium, so the tests of pages are skipped. Install it, or name its program in CHROMIUM, to run them.',
  );
}

/**
 * @param {string} program
 * @param {System} system
 */
function isBrowser(program, system) {
  return system.read(program, ['--version']) !== undefined;
}
