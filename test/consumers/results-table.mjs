import Table from 'cli-table3';

/**
 * The results side by side: what was tried, and in which application.
 *
 * @param {readonly import('./checks/check.mjs').Result[]} results
 * @param {readonly string[]} subjects the columns
 */
export function resultsTable(results, subjects) {
  const table = new Table({
    // Over two lines, to keep the table narrow.
    head: ['', ...subjects.map((subject) => subject.replace(', ', '\n'))],
    style: { head: [], border: [], compact: true },
  });
  for (const what of new Set(results.map((each) => each.what))) {
    const row = results.filter((each) => each.what === what);
    table.push([what, ...subjects.map((subject) => summary(row.filter((each) => each.subject === subject)))]);
  }
  return table.toString();
}

/** @param {readonly import('./checks/check.mjs').Result[]} results */
function summary(results) {
  if (results.length === 0) return '';
  const failed = results.filter((each) => 'error' in each);
  return failed.length === 0 ? `${results.length} ok` : `FAILED ${failed.length} of ${results.length}`;
}
