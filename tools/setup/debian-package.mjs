// Installs a package of Debian, where that needs no question.

/** @typedef {import('./system.mjs').System} System */

/**
 * @param {string} name
 * @param {System} system
 * @returns whether it is installed now; false on other systems, and without being root
 */
export function installFromDebian(name, system) {
  if (!system.isRoot || system.read('apt-get', ['--version']) === undefined) return false;
  system.say(`Installing from Debian: apt-get install ${name}`);
  const env = {
    DEBIAN_FRONTEND: 'noninteractive',
    // Keeps the package from starting a server of its own.
    RUNLEVEL: '1',
  };
  return (
    system.run('apt-get', ['update'], { env }) &&
    system.run('apt-get', ['install', '--yes', '--no-install-recommends', name], { env })
  );
}
