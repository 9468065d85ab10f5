// Finds libfaketime for the tests of servers whose clocks are wrong, or gets it.
import { installFromDebian } from './debian-package.mjs';

/** @typedef {import('./system.mjs').System} System */

/**
 * Makes sure that `libfaketime` can be loaded, where that is possible: the installed one, or the one of the system's package
 * source. Without it the tests that need it are skipped.
 *
 * @param {System} system
 */
export function provideFaketime(system) {
  if (isThere(system)) return;
  if (installFromDebian('libfaketime', system) && isThere(system)) return;
  system.say(
    'There is no libfaketime, so some tests of the command `doctor` are skipped. Install it to run them.',
  );
}

/** @param {System} system */
function isThere(system) {
  return system.read('sh', ['-c', 'ls /usr/lib/*/faketime/libfaketimeMT.so.1 2>/dev/null']) !== undefined;
}
