import { ExitCode } from './exit-code.js';
import { tableOf } from './table.js';

/** What a command prints: for people, or one JSON text a line. */
export class Output {
  constructor(readonly isJson = false) {}

  /** A broken pipe ends the process as SIGPIPE would; there is nobody left to read. */
  static watch(): void {
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(ExitCode.brokenPipe);
      throw error;
    });
    // What is told beside the output is worth no failure.
    process.stderr.on('error', () => {});
  }

  json(value: unknown): void {
    process.stdout.write(`${JSON.stringify(value)}\n`);
  }

  line(text: string): void {
    process.stdout.write(`${text}\n`);
  }

  /** Settles when what was printed has reached its reader; where that has gone, the process ends meanwhile. */
  async flush(): Promise<void> {
    await new Promise<void>((resolve) => {
      // The error comes behind the callback.
      process.stdout.write('', () => void setImmediate(resolve));
    });
  }

  table(head: readonly string[], rows: readonly (readonly string[])[]): void {
    this.line(tableOf([head, ...rows.map((row) => row.map(printable))]));
  }
}

/** Says something beside the output. */
export function tell(text: string): void {
  process.stderr.write(`nest-redis-lock: ${text}\n`);
}

/** Anybody can write anything into Redis: nothing of it may steer a terminal. */
export function printable(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
