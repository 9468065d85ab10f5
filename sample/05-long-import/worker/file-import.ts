import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Lock } from 'nest-redis-lock';
import { BATCH, BATCH_TIME } from '../imports/batches.js';
import { ImportedRows } from './imported-rows.js';

/** Brings the rows of a file into the application, a batch at a time. */
@Injectable()
export class FileImport {
  constructor(private readonly imported: ImportedRows) {}

  /**
   * Goes on after the last row that was imported before.
   *
   * @param progressed - Told the percentage after each batch.
   * @throws LockLostError as soon as the lock is lost, also in the middle of a batch.
   */
  async import(file: string, lock: Lock, progressed: (percent: number) => Promise<void>): Promise<void> {
    const { signal, fencingToken } = lock;
    const rows = await this.rowsOf(file, signal);
    let done = await this.imported.count(file);
    while (done < rows.length) {
      const batch = rows.slice(done, done + BATCH);
      await this.enrich(signal);
      // Right before the write: the signal may be late where the process was stopped for a while.
      lock.assertHeld();
      await this.imported.append(file, batch, fencingToken);
      done += batch.length;
      await progressed((100 * done) / rows.length);
    }
  }

  private async rowsOf(file: string, signal: AbortSignal): Promise<string[]> {
    const directory = process.env.IMPORT_DIRECTORY ?? '.';
    const text = await readFile(join(directory, file), { encoding: 'utf8', signal });
    return text.trimEnd().split('\n');
  }

  /** Stands for slow work on a batch, such as calls to other systems: fetch, pg and others take a signal, too. */
  private async enrich(signal: AbortSignal): Promise<void> {
    try {
      await delay(BATCH_TIME, undefined, { signal });
    } catch {
      // It says "The operation was aborted"; the reason says why.
      signal.throwIfAborted();
    }
  }
}
