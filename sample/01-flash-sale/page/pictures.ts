import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import {
  distinctUntilChanged,
  exhaustMap,
  type Observable,
  ReplaySubject,
  share,
  Subject,
  takeUntil,
  timer,
} from 'rxjs';
import { SALE_MODES } from '../demo/sale-mode.js';
import { InstanceDirectory } from '../instances/instance-directory.js';
import { INSTANCE_NAME } from '../instances/instance-name.js';
import { LockWatch } from './lock-watch.js';
import { NEXT_RUSH, RUSH_LOCK } from './next-rush.js';
import type { Picture } from './picture.interface.js';
import { SaleRecords } from './sale-records.js';

/** Milliseconds. */
const INTERVAL = 60;
const LOCK = `order:${SALE_MODES.locked.sku}`;

/**
 * What the page shows, again and again.
 *
 * All of it comes from the database and from Redis, so the pages of all instances show the same.
 */
@Injectable()
export class Pictures implements BeforeApplicationShutdown {
  private readonly closing = new Subject<void>();
  /** Those that differ from the one before. Pages share them, and without a page nobody looks. */
  readonly changes: Observable<Picture> = timer(0, INTERVAL).pipe(
    exhaustMap(async () => this.take()),
    distinctUntilChanged((a, b) => JSON.stringify(a) === JSON.stringify(b)),
    takeUntil(this.closing),
    share({ connector: () => new ReplaySubject(1) }),
  );

  constructor(
    private readonly records: SaleRecords,
    private readonly directory: InstanceDirectory,
    private readonly watch: LockWatch,
  ) {}

  /** An open stream would keep the server from closing. */
  beforeApplicationShutdown(): void {
    this.closing.next();
  }

  private async take(): Promise<Picture> {
    const instances = await this.directory.all();
    const [unlocked, locked, lock, rushing] = await Promise.all([
      this.records.of(SALE_MODES.unlocked.sku),
      this.records.of(SALE_MODES.locked.sku),
      this.watch.look(LOCK, instances),
      this.watch.isHeld(RUSH_LOCK),
    ]);
    const running = unlocked?.endedAt === null ? 'unlocked' : locked?.endedAt === null ? 'locked' : null;
    return {
      servedBy: INSTANCE_NAME,
      next: NEXT_RUSH,
      // A sale whose process was killed never ends in the database, but its lock does.
      running: rushing ? running : null,
      sales: { unlocked, locked },
      instances: instances.map(({ name, url }) => ({ name, url })),
      lock,
    };
  }
}
