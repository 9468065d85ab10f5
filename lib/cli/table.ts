import stringWidth from 'string-width';

/** Formats rows as a framed table, with the first row as its head. */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => stringWidth(row[column] ?? ''))));
  const edge = (left: string, between: string, right: string): string =>
    left + widths.map((width) => '─'.repeat(width + 2)).join(between) + right;
  const line = (row: readonly string[]): string =>
    `│${row.map((cell, column) => ` ${filled(cell, widths[column] ?? 0)} `).join('│')}│`;
  return [edge('┌', '┬', '┐'), ...rows.map(line), edge('└', '┴', '┘')].join('\n');
}

function filled(cell: string, width: number): string {
  return cell + ' '.repeat(width - stringWidth(cell));
}
