import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ScratchDirectory } from '../scratch-directory.js';

/** The database that DATABASE_URL names, else an SQLite file in the directory. */
export function databaseUrl({ path }: ScratchDirectory): string {
  return process.env.DATABASE_URL || pathToFileURL(join(path, 'sample.sqlite')).href;
}
