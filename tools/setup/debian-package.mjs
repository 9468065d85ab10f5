// Installs a package of Debian if that needs no answer from a person.

/** @typedef {import('./system.mjs').System} System */

/**
 * @param {string} name
 * @param {System} system
 * @returns whether the package is installed now; false on other systems, and without root
 */
export function installFromDebian(name, system) {
  if (!system.isRoot || system.read('apt-get', ['--version']) === undefined) return false;
  const env = {
    DEBIAN_FRONTEND: 'noninteractive',
    // Keeps the package from starting a server of its own.
    RUNLEVEL: '1',
  };
  return (
    system.run('apt-get', ['update'], { env, what: 'Reading the package lists (apt-get update)' }) &&
    system.run('apt-get', ['install', '--yes', '--no-install-recommends', name], {
      env,
      what: `Installing ${name} (apt-get install)`,
    })
  );
}
