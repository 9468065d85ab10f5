import type { Readable } from 'node:stream';

const KEPT_LINES = 200;

/** The last lines that a program printed, for messages about why it failed. */
export class OutputTail {
  private readonly lines: string[] = [];
  private readonly listeners = new Set<(line: string) => void>();

  /** Collects the lines of one more stream. */
  collect(stream: Readable | null): void {
    let rest = '';
    stream?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.add(line);
    });
  }

  /** Calls back with every line from now on, until the returned function is called. */
  onLine(listener: (line: string) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  toString(): string {
    return this.lines.join('\n');
  }

  private add(line: string): void {
    this.lines.push(line);
    if (this.lines.length > KEPT_LINES) this.lines.shift();
    for (const listener of this.listeners) listener(line);
  }
}
