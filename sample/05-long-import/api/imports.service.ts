import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { type LockInfo, LockService } from 'nest-redis-lock';
import { type ImportJob, IMPORTS, lockOf } from '../imports/import-job.interface.js';
import { QUEUE_TIME } from '../imports/leases.js';

/** An import that has begun. */
export interface StartedImport {
  readonly job: string | undefined;
  /** Fencing token of the hold that goes to the worker. */
  readonly token: number;
}

@Injectable()
export class ImportsService {
  constructor(
    private readonly locks: LockService,
    @InjectQueue(IMPORTS) private readonly queue: Queue<ImportJob>,
  ) {}

  /**
   * Takes the lock of the file and hands it over to a worker.
   *
   * @throws LockTimeoutError when an import of the file is waiting or running.
   */
  async start(file: string): Promise<StartedImport> {
    await using lock = await this.locks.acquire(lockOf(file), { wait: 0 });
    const { fencingToken: token } = lock;
    const handover = await lock.detach(QUEUE_TIME);
    try {
      const job = await this.queue.add('import', { file, lock: handover });
      return { job: job.id, token };
    } catch (error) {
      // No worker will take it, and nobody else could for as long as a job may wait.
      await (await this.locks.attach(handover)).release();
      throw error;
    }
  }

  /** The hold under which the import waits or runs; undefined where there is none. */
  async running(file: string): Promise<LockInfo | undefined> {
    const { held } = await this.locks.query(lockOf(file));
    return held[0];
  }

  /** Takes the lock away from whoever runs the import, so that it stops. Resolves to whether somebody did. */
  async stop(file: string): Promise<boolean> {
    return this.locks.forceRelease(lockOf(file));
  }
}
