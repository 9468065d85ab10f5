/** What the queue keeps of an import. */
export interface ImportJob {
  readonly file: string;
  /** The string of `lock.detach()`: whoever reads the queue can take the hold with it. */
  readonly lock: string;
}

/** Name of the queue. */
export const IMPORTS = 'imports';

/** Keeps the queue apart from yours, on a Redis of yours. */
export const QUEUE_PREFIX = 'sample-long-import';

/** Name of the lock of a file's import, for those who begin it and those who go on with it. */
export function lockOf(file: string): string {
  return `import:${encodeURIComponent(file)}`;
}
