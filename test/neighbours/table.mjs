/**
 * The table of docs/guide/places.md: the neighbours, the versions of the lock files, and what was tried.
 *
 * @param {readonly import('./neighbours.mjs').Neighbour[]} neighbours
 * @param {(group: string) => { packages: Record<string, { version?: string }> }} lockFileOf
 * @returns {readonly Record<'neighbour' | 'versions' | 'tried', string>[]}
 */
export function rowsOf(neighbours, lockFileOf) {
  return neighbours.map(({ name, group, packages, tried }) => {
    const { packages: locked } = lockFileOf(group);
    const versionOf = (/** @type {string} */ each) => locked[`node_modules/${each}`]?.version;
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
