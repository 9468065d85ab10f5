import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';

/**
 * The packages that a module and all modules behind it import, without running any of them: of a `.js` file
 * what it loads, of a `.d.ts` file what its types need.
 *
 * @param {string} file
 * @param {Set<string>} packages
 * @param {Set<string>} seen
 * @returns {Set<string>}
 */
export function importedPackages(file, packages = new Set(), seen = new Set()) {
  if (seen.has(file)) return packages;
  seen.add(file);
  const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'), true, true);
  for (const { fileName } of importedFiles) {
    if (fileName.startsWith('.')) importedPackages(fileBehind(file, fileName), packages, seen);
    else if (!isBuiltin(fileName)) packages.add(packageOf(fileName));
  }
  return packages;
}

/**
 * @param {string} file
 * @param {string} specifier
 */
function fileBehind(file, specifier) {
  const target = join(file, '..', specifier);
  return /\.d\.m?ts$/.test(file) ? target.replace(/\.(m?)js$/, '.d.$1ts') : target;
}

/** @param {string} specifier */
function packageOf(specifier) {
  const [scope, name] = specifier.split('/');
  return specifier.startsWith('@') ? `${scope}/${name}` : scope;
}
