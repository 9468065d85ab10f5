import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import type { ImportedRow } from './imported-row.interface.js';

/** What was imported: a file of JSON lines that stands for a table of your database. */
@Injectable()
export class ImportedRows {
  constructor(private readonly directory: string) {}

  async append(file: string, rows: readonly string[], token: number): Promise<void> {
    const written = rows.map((row): ImportedRow => ({ row, token, worker: process.pid }));
    const lines = written.map((row) => `${JSON.stringify(row)}\n`);
    await appendFile(this.path(file), lines.join(''));
  }

  async count(file: string): Promise<number> {
    return (await this.read(file)).length;
  }

  /** All rows of a file, in the order in which they were written. */
  async read(file: string): Promise<ImportedRow[]> {
    const text = await readFile(this.path(file), { encoding: 'utf8', flag: 'a+' });
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line): ImportedRow => JSON.parse(line));
  }

  private path(file: string): string {
    return join(this.directory, `${file}.imported`);
  }
}
