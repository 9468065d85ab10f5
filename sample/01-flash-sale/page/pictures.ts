import { Injectable } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { SALE_MODES } from '../demo/sale-mode.js';
import { InstanceDirectory } from '../instances/instance-directory.js';
import { INSTANCE_NAME } from '../instances/instance-name.js';
import { LockWatch } from './lock-watch.js';
import { NEXT_RUSH, RUSH_LOCK } from './next-rush.js';
import type { Picture } from './picture.interface.js';
import { SaleRecords } from './sale-records.js';
import { Streams } from './streams.js';

const LOCK = `order:${SALE_MODES.locked.sku}`;

/**
 * What the page shows, again and again.
 *
 * All of it comes from the database and from Redis, so the pages of all instances show the same.
 */
@Injectable()
export class Pictures {
  readonly changes: Observable<Picture>;

  constructor(
    private readonly records: SaleRecords,
    private readonly directory: InstanceDirectory,
    private readonly watch: LockWatch,
    streams: Streams,
  ) {
    this.changes = streams.of(() => this.take());
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
