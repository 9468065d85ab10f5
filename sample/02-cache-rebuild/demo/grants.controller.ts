import { Controller, Get, type OnModuleDestroy } from '@nestjs/common';
import { listenToLocks } from 'nest-redis-lock/diagnostics';

/** The number of locks that this instance has acquired, for the table of the demo. */
@Controller('grants')
export class GrantsController implements OnModuleDestroy {
  private grants = 0;
  private readonly stop = listenToLocks({
    'nest-redis-lock:acquire:granted': () => {
      this.grants += 1;
    },
  });

  @Get()
  count(): number {
    return this.grants;
  }

  onModuleDestroy(): void {
    this.stop();
  }
}
