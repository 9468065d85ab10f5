/**
 * The table of docs/guide/places.md: the neighbours, the versions of the lock file, and what was tried.
 *
 * @param {readonly import('./neighbours.mjs').Neighbour[]} neighbours
 * @param {{ packages: Record<string, { version?: string }> }} lockFile
 * @returns {readonly Record<'neighbour' | 'versions' | 'tried', string>[]}
 */
export function rowsOf(neighbours, { packages: locked }) {
  return neighbours.map(({ name, group, packages, tried }) => {
    const versionOf = (/** @type {string} */ each) =>
      (locked[`${group}/node_modules/${each}`] ?? locked[`node_modules/${each}`])?.version;
    const versions = packages.map((each) => `\`${each}\` ${versionOf(each)}`);
    return {
      neighbour: name,
      versions: [...versions, `NestJS ${versionOf('@nestjs/core')}`].join(', '),
      tried,
    };
  });
}

/** @param {ReturnType<typeof rowsOf>} rows */
export function tableOf(rows) {
  const columns = Object.keys(rows[0] ?? {});
  const lines = [columns, columns.map(() => '---'), ...rows.map((row) => Object.values(row))];
  return lines.map((line) => `| ${line.join(' | ')} |`).join('\n');
}
