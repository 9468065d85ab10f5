import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';

const BEGIN = '<!-- begin: npm run test:servers -- --write -->';
const END = '<!-- end -->';

/**
 * The table between the markers of a page.
 *
 * @param {string} file
 */
export function tableIn(file) {
  const page = readFileSync(file, 'utf8');
  const lines = page.slice(page.indexOf(BEGIN), page.indexOf(END)).split('\n');
  return lines.filter((line) => line.startsWith('|')).join('\n');
}

/**
 * Replaces what stands between the markers of a page.
 *
 * @param {string} file
 * @param {string} text
 * @throws Error when the page has no such markers
 */
export async function writeIntoPage(file, text) {
  const page = readFileSync(file, 'utf8');
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end < begin) throw new Error(`${file} has no markers for the table`);
  const changed = `${page.slice(0, begin)}${BEGIN}\n\n${text}\n\n${page.slice(end)}`;
  writeFileSync(file, await format(changed, { ...(await resolveConfig(file)), filepath: file }));
}
