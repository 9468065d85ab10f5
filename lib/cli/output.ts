import { ExitCode } from './exit-code.js';

/** Prints the output of a command: for people, or one JSON text per line. */
export class Output {
  constructor(readonly isJson = false) {}

  /** Ends the process at a broken pipe, as SIGPIPE would. */
  static watch(): void {
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(ExitCode.brokenPipe);
      throw error;
    });
    // A failure to write to stderr must not fail the command.
    process.stderr.on('error', () => {});
  }

  /** Prints the result of a command as JSON, or for people by `print`. */
  result(value: unknown, print: () => void): void {
    if (this.isJson) this.line(JSON.stringify(value));
    else print();
  }

  line(text: string): void {
    process.stdout.write(`${text}\n`);
  }

  /** Settles when the reader has received the output. If the reader has closed it, the process ends. */
  async flush(): Promise<void> {
    await new Promise<void>((resolve) => {
      // The error event follows the callback.
      process.stdout.write('', () => void setImmediate(resolve));
    });
  }

  table(head: readonly string[], rows: readonly (readonly string[])[]): void {
    this.line(tableOf([head, ...rows.map((row) => row.map(printable))]));
  }
}

/** Prints a text to stderr. */
export function printError(text: string): void {
  process.stderr.write(`nest-redis-lock: ${text}\n`);
}

/** The number of permits of a hold or a waiter, after its kind. */
export function permitsOf({ permits }: { readonly permits?: number }): string {
  return permits === undefined ? '' : `, ${permits} permits`;
}

/** Escapes control characters: text from Redis must not control the terminal. */
export function printable(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const CHARACTERS = new Intl.Segmenter();
/** Characters of two columns: East Asian ones, except the narrow forms of Katakana and Hangul, and emoji. */
const WIDE =
  /\uFE0F|[\u3000-\u303E\uFF01-\uFF60\uFFE0-\uFFE6\p{Emoji_Presentation}]|(?![\uFF61-\uFFDC])[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** The number of columns that a text takes in a terminal. */
function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  return Array.from(CHARACTERS.segment(text), ({ segment }) => (WIDE.test(segment) ? 2 : 1)).reduce(
    (sum, width) => sum + width,
    0,
  );
}

/** Formats rows as a framed table, with the first row as its head. */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ''))));
  const edge = (left: string, between: string, right: string): string =>
    left + widths.map((width) => '─'.repeat(width + 2)).join(between) + right;
  const line = (row: readonly string[]): string =>
    `│${row.map((cell, column) => ` ${filled(cell, widths[column] ?? 0)} `).join('│')}│`;
  return [edge('┌', '┬', '┐'), ...rows.map(line), edge('└', '┴', '┘')].join('\n');
}

function filled(cell: string, width: number): string {
  return cell + ' '.repeat(width - widthOf(cell));
}
