import type { Observable } from 'rxjs';
import { INSTANCE_NAME } from '../instances/instance-name.js';
import type { LockWatch, WatchedProcess } from '../page/lock-watch.js';
import type { Streams } from '../page/streams.js';
import type { StageEvent, StagePicture } from './stage-picture.interface.js';

/** Milliseconds: so long that a reader sees it expire. */
const LEASE = 3_000;

/** Sets the lease of the processes. */
export const LEASE_ENV = { LEASE: String(LEASE) };

/** Runs processes that share a lock, and shows what they do. */
export abstract class Stage<Picture extends StagePicture> {
  readonly pictures: Observable<Picture>;
  private events: (StageEvent & { at: number })[] = [];
  private startedAt = 0;
  private running = false;

  constructor(
    private readonly watch: LockWatch,
    streams: Streams,
  ) {
    this.pictures = streams.of(() => this.take());
  }

  protected abstract take(): Promise<Picture>;

  /** Forgets the run before. */
  protected async record(run: () => Promise<void>): Promise<void> {
    this.events = [];
    this.startedAt = performance.now();
    this.running = true;
    try {
      await run();
    } finally {
      this.running = false;
    }
  }

  protected tell(event: StageEvent): void {
    this.events.push({ at: Math.round(performance.now() - this.startedAt), ...event });
  }

  protected async look(lock: string, processes: readonly WatchedProcess[]): Promise<StagePicture> {
    const { events, running } = this;
    const held = await this.watch.look(lock, processes);
    return { servedBy: INSTANCE_NAME, running, events, lock: held, lease: LEASE };
  }
}
