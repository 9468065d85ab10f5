import { EventEmitter, once } from 'node:events';
import { Queue, QueueEvents } from 'bullmq';
import { IMPORTS, QUEUE_PREFIX } from '../imports/import-job.interface.js';

/** What the queue told of a job until now. */
export interface JobState {
  readonly percent: number;
  /** `running` includes that it waits. */
  readonly ended: 'running' | 'completed' | 'failed';
}

/** Follows the jobs of the queue, and removes it in the end. */
export class JobEvents implements AsyncDisposable {
  private readonly jobs = new Map<string, JobState>();
  private readonly changes = new EventEmitter().setMaxListeners(0);

  private constructor(
    private readonly events: QueueEvents,
    private readonly queue: Queue,
    private readonly signal: AbortSignal,
  ) {
    events.on('progress', ({ jobId, data }) => this.update(jobId, { percent: Number(data) }));
    events.on('completed', ({ jobId }) => this.update(jobId, { ended: 'completed' }));
    events.on('failed', ({ jobId }) => this.update(jobId, { ended: 'failed' }));
  }

  /** @param signal - Ends every wait. */
  static async listen(url: string, signal: AbortSignal): Promise<JobEvents> {
    const options = { connection: { url }, prefix: QUEUE_PREFIX };
    const events = new QueueEvents(IMPORTS, options);
    await events.waitUntilReady();
    return new JobEvents(events, new Queue(IMPORTS, options), signal);
  }

  /** Calls back with each change of a job, and with what was heard of it before. */
  follow(job: string, listener: (state: JobState) => void): void {
    this.changes.on(job, listener);
    listener(this.stateOf(job));
  }

  /** Waits until the job has made so much progress. */
  async reached(job: string, percent: number): Promise<void> {
    while (this.stateOf(job).percent < percent) await this.change(job);
  }

  /** Waits until the job has ended, one way or the other. */
  async ended(job: string): Promise<JobState['ended']> {
    while (this.stateOf(job).ended === 'running') await this.change(job);
    return this.stateOf(job).ended;
  }

  /** Leaves nothing of the queue behind. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.events.close();
    await this.queue.obliterate({ force: true });
    await this.queue.close();
  }

  private stateOf(job: string): JobState {
    return this.jobs.get(job) ?? { percent: 0, ended: 'running' };
  }

  private async change(job: string): Promise<void> {
    await once(this.changes, job, { signal: this.signal });
  }

  private update(job: string, news: Partial<JobState>): void {
    const state = { ...this.stateOf(job), ...news };
    this.jobs.set(job, state);
    this.changes.emit(job, state);
  }
}
