import { Processor, WorkerHost } from '@nestjs/bullmq';
import { type Job, UnrecoverableError } from 'bullmq';
import { type Lock, LockLostError, LockService } from 'nest-redis-lock';
import { type ImportJob, IMPORTS, lockOf } from '../imports/import-job.interface.js';
import { LEASE } from '../imports/leases.js';
import { FileImport } from './file-import.js';

/** BullMQ's own lease of a job: another worker gets the job of a dead one soon after it. */
const JOB_LEASE = { lockDuration: 1_500, stalledInterval: 500 };

@Processor(IMPORTS, JOB_LEASE)
export class ImportsProcessor extends WorkerHost {
  constructor(
    private readonly locks: LockService,
    private readonly files: FileImport,
  ) {
    super();
  }

  override async process(job: Job<ImportJob>): Promise<void> {
    await using lock = await this.takeOver(job.data);
    try {
      await this.files.import(job.data.file, lock, (percent) => job.updateProgress(percent));
    } catch (error) {
      // An operator took the lock away: it would be rude to take it back. After anything else the queue tries again.
      if (lossOf(lock)?.reason === 'forced') throw new UnrecoverableError('The import was stopped');
      throw error;
    }
  }

  /** The hold of the request, or a new one where that is gone. */
  private async takeOver({ file, lock }: ImportJob): Promise<Lock> {
    try {
      return await this.locks.attach(lock, { ttl: LEASE });
    } catch (error) {
      if (!(error instanceof LockLostError)) throw error;
      // An earlier attempt of this job used the string, or the job waited too long. The worker of that attempt may have
      // died with the lock: it comes free when its lease has ended.
      return this.locks.acquire(lockOf(file), { wait: 2 * LEASE });
    }
  }
}

function lossOf({ signal }: Lock): LockLostError | undefined {
  return signal.reason instanceof LockLostError ? signal.reason : undefined;
}
