import { Body, Controller, type MessageEvent, Post, ServiceUnavailableException, Sse } from '@nestjs/common';
import { CurrentLock, type Lock, Locked } from 'nest-redis-lock';
import { map, type Observable } from 'rxjs';
import { Database } from '../../support/database/database.js';
import { FlashSale, type SaleResult } from '../demo/flash-sale.js';
import { Ledger } from '../demo/ledger.js';
import { InstanceDirectory } from '../instances/instance-directory.js';
import { NEXT_RUSH, RUSH_LOCK } from './next-rush.js';
import { Pictures } from './pictures.js';
import { StartRushDto } from './start-rush.dto.js';
import { Streams } from './streams.js';

/** What the page asks for. */
@Controller()
export class PageController {
  constructor(
    private readonly database: Database,
    private readonly directory: InstanceDirectory,
    private readonly pictures: Pictures,
    private readonly streams: Streams,
  ) {}

  @Sse('pictures')
  watch(): Observable<MessageEvent> {
    return this.pictures.changes.pipe(map((data) => ({ data })));
  }

  /** Sends buyers to all instances. While one rush runs, on whichever instance, another one gets 423 Locked. */
  @Post('rushes')
  @Locked(RUSH_LOCK, { wait: 0 })
  async rush(@Body() { mode }: StartRushDto, @CurrentLock() lock: Lock): Promise<SaleResult> {
    const instances = await this.directory.all();
    const { signal } = this.streams;
    const sale = new FlashSale(new Ledger(this.database), {
      ...NEXT_RUSH,
      urls: instances.map(({ url }) => url),
      signal: AbortSignal.any([lock.signal, signal]),
    });
    return sale.run(mode).catch((error: unknown) => {
      throw signal.aborted ? new ServiceUnavailableException('This instance is closing') : error;
    });
  }
}
