import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Writes a file to import; its name is new, for locks on a Redis of yours may outlive a run. */
export async function writeRows(directory: string, what: string, rows: number): Promise<string> {
  const file = `${what}-${randomUUID().slice(0, 8)}.csv`;
  const lines = Array.from({ length: rows }, (_, row) => `${row + 1},customer ${row + 1}\n`);
  await writeFile(join(directory, file), lines.join(''));
  return file;
}
