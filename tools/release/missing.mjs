import { addressFields, addressesOf, withAddresses, withoutAddresses } from './addresses.mjs';

/**
 * What the repository says of itself.
 *
 * @typedef {object} Project
 * @property {import('./addresses.mjs').AddressFields & { version: string; publishConfig?: object }} manifest
 * @property {import('./addresses.mjs').Addresses} addresses
 * @property {string} changelog
 * @property {Readonly<Record<string, string>>} readmes by their names
 * @property {readonly Measured[]} measured
 * @property {readonly string[]} outdated Chinese pages whose English page has changed since somebody compared both
 *
 * @typedef {object} Measured figures that the pages tell
 * @property {string} what
 * @property {string} command that measures them again
 * @property {string | undefined} commit that was measured
 * @property {readonly string[]} changed files of the engine and the store that are newer
 */

/**
 * What is missing before a publication, a sentence each.
 *
 * @param {Project} project
 * @returns {string[]}
 */
export function missingIn({ manifest, addresses, changelog, readmes, measured, outdated }) {
  /** @type {string[]} */
  const missing = [];
  if (addresses.repository === null) missing.push('docs/.vitepress/site.json names no repository.');
  if (addresses.homepage === null) missing.push('docs/.vitepress/site.json names no homepage.');
  const { repository, homepage, bugs } = manifest;
  if (JSON.stringify({ repository, homepage, bugs }) !== JSON.stringify(addressFields(addresses))) {
    missing.push(
      'package.json has other addresses than site.json; `npm run release:check -- --write` enters them.',
    );
  }
  for (const [name, text] of Object.entries(readmes)) {
    if (text !== withAddresses(withoutAddresses(text, addressesOf(manifest)), addresses)) {
      missing.push(
        `${name} has other links than site.json gives; \`npm run release:check -- --write\` enters them.`,
      );
    }
  }
  const { provenance, access } = /** @type {{ provenance?: unknown; access?: unknown }} */ (
    manifest.publishConfig ?? {}
  );
  if (provenance !== true || access !== 'public') {
    missing.push('publishConfig of package.json must say `"access": "public"` and `"provenance": true`.');
  }
  for (const page of outdated) {
    missing.push(
      `${page} is older than its English page: compare both, then \`npm run release:check -- --compared ${page}\`.`,
    );
  }
  for (const { what, command, commit, changed } of measured) {
    if (commit === undefined) missing.push(`${what} name no commit; \`${command}\` measures them again.`);
    else if (changed.length > 0) {
      missing.push(
        `${what} are of ${commit.slice(0, 8)}, and ${changed.length} files of lib/engine and lib/store are newer; \`${command}\` measures them again.`,
      );
    }
  }
  return [...missing, ...missingInChangelog(manifest.version, changelog)];
}

/**
 * @param {string} version
 * @param {string} changelog
 * @returns {string[]}
 */
function missingInChangelog(version, changelog) {
  const [unreleased = '', ...released] = changelog.split(/^## \[/m).slice(1);
  const newest = /^([^\]]+)\] - \d{4}-\d{2}-\d{2}\n/.exec(released[0] ?? '')?.[1];
  const missing = [];
  if (!unreleased.startsWith('Unreleased]')) missing.push('CHANGELOG.md begins with no section Unreleased.');
  else if (unreleased.includes('\n- ')) {
    missing.push(
      'CHANGELOG.md has entries under Unreleased: give them a version and a date, and package.json the version.',
    );
  }
  if (newest !== version) {
    missing.push(`CHANGELOG.md tells of ${newest ?? 'no version'} last, package.json is ${version}.`);
  }
  return missing;
}
