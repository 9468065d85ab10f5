import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';

/**
 * @param {string} script
 * @param {string} [what]
 */
const beginOf = (script, what) =>
  what === undefined
    ? `<!-- begin: npm run ${script} -- --write -->`
    : `<!-- begin: npm run ${script} (${what}) -->`;
const END = '<!-- end -->';

/**
 * The table between the markers of a page.
 *
 * @param {string} file
 * @param {string} script the npm script that writes it
 */
export function tableIn(file, script) {
  const page = readFileSync(file, 'utf8');
  const lines = page.slice(page.indexOf(beginOf(script)), page.indexOf(END)).split('\n');
  return lines.filter((line) => line.startsWith('|')).join('\n');
}

/**
 * Replaces what stands between the markers of a page.
 *
 * @param {string} file
 * @param {string} script the npm script that writes it
 * @param {string} text
 * @param {string} [what] which of the texts of the script, if it writes several
 * @throws Error when the page has no such markers
 */
export async function writeIntoPage(file, script, text, what) {
  const page = readFileSync(file, 'utf8');
  const mark = beginOf(script, what);
  const begin = page.indexOf(mark);
  const end = page.indexOf(END, begin);
  if (begin === -1 || end < begin) throw new Error(`${file} has no ${mark}`);
  const changed = `${page.slice(0, begin)}${mark}\n\n${text}\n\n${page.slice(end)}`;
  writeFileSync(file, await format(changed, { ...(await resolveConfig(file)), filepath: file }));
}
