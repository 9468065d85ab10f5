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
