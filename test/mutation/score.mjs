// What the verdicts on mutants amount to.

/**
 * @typedef {'killed' | 'survived' | 'not reached' | 'equivalent'} Verdict
 * @typedef {Record<Verdict, number>} Counts
 * @typedef {Counts & { folder: string, mutants: number, score: number, goal: number }} Row `score` in percent
 */

/**
 * Counts the verdicts of each folder. Equivalent mutants do not count; unreached ones count as survivors.
 *
 * @param {Iterable<{ folder: string, verdict: Verdict }>} verdicts
 * @param {Record<string, number>} goals percent to be killed, by folder
 * @returns {Row[]} folders with mutants, in the order of the goals, then all of them together
 */
export function scoresOf(verdicts, goals) {
  const all = [...verdicts];
  const rows = Object.entries(goals).map(([folder, goal]) =>
    rowOf(
      folder,
      goal,
      all.filter((verdict) => verdict.folder === folder),
    ),
  );
  return [...rows, rowOf('all', 0, all)].filter(({ mutants }) => mutants > 0);
}

/**
 * @param {string} folder
 * @param {number} goal
 * @param {readonly { verdict: Verdict }[]} of
 * @returns {Row}
 */
function rowOf(folder, goal, of) {
  /** @type {Counts} */
  const counts = { killed: 0, survived: 0, 'not reached': 0, equivalent: 0 };
  for (const { verdict } of of) counts[verdict] += 1;
  const counted = of.length - counts.equivalent;
  const score = counted === 0 ? 100 : (100 * counts.killed) / counted;
  return { folder, goal, mutants: of.length, ...counts, score };
}

/**
 * @param {readonly Row[]} rows
 * @param {number | undefined} least percent that replaces the goals of the folders: a small sample misses them by chance
 */
export function isEnough(rows, least) {
  if (least === undefined) return rows.every(({ score, goal }) => score >= goal);
  return rows.some(({ folder, score }) => folder === 'all' && score >= least);
}

/** @param {readonly Row[]} rows */
export function tableOf(rows) {
  const head = ['folder', 'mutants', 'killed', 'survived', 'not reached', 'equivalent', 'score', 'goal'];
  const lines = rows.map((row) => [
    row.folder,
    ...[row.mutants, row.killed, row.survived, row['not reached'], row.equivalent].map(String),
    `${row.score.toFixed(1)} %`,
    row.goal === 0 ? '' : `${row.goal} %`,
  ]);
  return [head, ...lines]
    .map(([folder = '', ...cells]) => folder.padEnd(16) + cells.map((cell) => cell.padStart(13)).join(''))
    .join('\n');
}
