import { SUITES } from './suites.mjs';

/**
 * @typedef {import('./suite-results.mjs').SuiteResult} SuiteResult
 * @typedef {{ name: string, results: readonly SuiteResult[] } | { name: string, missing: string }} Row
 */

/**
 * The results side by side, as a table in Markdown: combinations of servers down, suites across.
 *
 * @param {readonly Row[]} rows
 */
export function matrix(rows) {
  const suites = Object.keys(SUITES).filter((name) =>
    rows.some((row) => 'results' in row && row.results.some(({ suite }) => suite === name)),
  );
  const lines = [
    ['servers', ...suites],
    ['---', ...suites.map(() => '---')],
    ...rows.map((row) => [
      row.name,
      ...suites.map((suite) =>
        'missing' in row
          ? `not tried: ${row.missing}`
          : cell(row.results.find((each) => each.suite === suite)),
      ),
    ]),
  ];
  return lines.map((line) => `| ${line.join(' | ')} |`).join('\n');
}

/** @param {SuiteResult | undefined} result */
function cell(result) {
  if (result === undefined) return '';
  const { passed, failures } = result;
  return failures.length === 0
    ? String(passed)
    : `**${failures.length} of ${passed + failures.length} failed**`;
}

/**
 * A table in which rows of another one stand in place of those with the same first cell.
 *
 * @param {string} table
 * @param {string} again a table with some of its rows, and maybe fewer of its columns
 */
export function withRows(table, again) {
  const [before, now] = [cellsOf(table), cellsOf(again)];
  const [header = []] = before;
  const [columns = []] = now;
  const rows = before.map((row, i) => {
    const other = i < 2 ? undefined : now.find(([name]) => name === row[0]);
    return other ? header.map((column, at) => other[columns.indexOf(column)] ?? row[at] ?? '') : row;
  });
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** @param {string} table */
function cellsOf(table) {
  return table
    .trim()
    .split('\n')
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((each) => each.trim()),
    );
}
