import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Locked, LockService, RedisLockModule } from 'nest-redis-lock';
import { collectGarbage } from '../support/collect-garbage.js';
import { serveCalls } from '../support/serve-calls.js';

/** What a block of runs has cost. */
interface Cost {
  /** Microseconds of CPU for each run. */
  readonly cpu: number;
  /** Bytes that remain of each run. */
  readonly bytes: number;
}

/** Microseconds of CPU. */
function cpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

@Injectable()
class Poller {
  readonly costs: Cost[] = [];
  private runs = 0;
  private last = { cpu: 0, heap: 0 };
  over: () => void = () => undefined;

  /** Schedules its next run while it holds its lock, and notes the cost of each block of runs. */
  @Locked('poll')
  async poll(block: number, blocks: number): Promise<void> {
    if (this.runs % block === 0) this.note(block);
    this.runs += 1;
    if (this.runs > block * blocks) this.over();
    else setImmediate(() => void this.poll(block, blocks));
  }

  private note(block: number): void {
    const used = cpu() - this.last.cpu;
    for (let round = 0; round < 3; round++) collectGarbage();
    const heap = process.memoryUsage().heapUsed;
    if (this.runs > 0) this.costs.push({ cpu: used / block, bytes: (heap - this.last.heap) / block });
    this.last = { cpu: cpu(), heap };
  }
}

@Module({ imports: [RedisLockModule.forRoot({ connection: 'memory' })], providers: [Poller] })
class AppModule {}

const calls = {
  /** The cost of each block of one chain of runs. */
  async costs(below: 'no hold' | 'a hold', block: number, blocks: number): Promise<readonly Cost[]> {
    const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
    const poller = app.get(Poller);
    const runAll = async (): Promise<void> => {
      const over = new Promise<void>((resolve) => (poller.over = resolve));
      await poller.poll(block, blocks);
      await over;
    };
    if (below === 'a hold') await app.get(LockService).using('poll', runAll);
    else await runAll();
    await app.close();
    return poller.costs;
  },
};

export type RunCalls = typeof calls;

serveCalls(calls);
