// Finds promtool for the tests of alert rules, or gets it.
import { installFromDebian } from './debian-package.mjs';

/** @typedef {import('./system.mjs').System} System */

/**
 * Makes sure that `promtool` can be started, where that is possible: the one on PATH, or the one of the system's
 * package source. Without it the tests that need it are skipped.
 *
 * @param {System} system
 */
export function providePromtool(system) {
  if (isThere(system)) return;
  if (installFromDebian('prometheus', system) && isThere(system)) return;
  system.say(
    'There is no promtool, so some tests of alert rules are skipped. Install Prometheus to run them.',
  );
}

/** @param {System} system */
function isThere(system) {
  return system.read('promtool', ['--version']) !== undefined;
}
