import {
  Body,
  Controller,
  Get,
  InternalServerErrorException,
  type MessageEvent,
  NotFoundException,
  Param,
  Post,
  Sse,
} from '@nestjs/common';
import { CurrentLock, type Lock, Locked } from 'nest-redis-lock';
import { map, type Observable } from 'rxjs';
import { Streams } from '../page/streams.js';
import type { Excerpt } from './excerpt.interface.js';
import { excerptsOf, isTourStop } from './excerpts.js';
import { FencingStage } from './fencing.stage.js';
import { RunFencingDto } from './run-fencing.dto.js';
import { TakeoverStage } from './takeover.stage.js';

/** Milliseconds that a run may take. */
const TIME_LIMIT = 60_000;

/** The second and the third page. While one run lasts, on whichever instance, another one gets 423 Locked. */
@Controller('tour')
export class TourController {
  constructor(
    private readonly fencing: FencingStage,
    private readonly takeover: TakeoverStage,
    private readonly streams: Streams,
  ) {}

  @Get('excerpts/:stop')
  async excerpts(@Param('stop') stop: string): Promise<Excerpt[]> {
    if (!isTourStop(stop)) throw new NotFoundException();
    return excerptsOf(stop);
  }

  @Sse('fencing')
  watchFencing(): Observable<MessageEvent> {
    return this.fencing.pictures.pipe(map((data) => ({ data })));
  }

  @Post('fencing')
  @Locked('tour:fencing', { wait: 0 })
  async runFencing(@Body() { guard }: RunFencingDto, @CurrentLock() lock: Lock): Promise<void> {
    await this.limited(lock, (signal) => this.fencing.run(guard, signal));
  }

  @Sse('takeover')
  watchTakeover(): Observable<MessageEvent> {
    return this.takeover.pictures.pipe(map((data) => ({ data })));
  }

  @Post('takeover')
  @Locked('tour:takeover', { wait: 0 })
  async runTakeover(@CurrentLock() lock: Lock): Promise<void> {
    await this.limited(lock, (signal) => this.takeover.run(signal));
  }

  @Post('takeover/kill')
  async kill(): Promise<void> {
    await this.takeover.kill();
  }

  private async limited(lock: Lock, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const signal = AbortSignal.any([lock.signal, this.streams.signal, AbortSignal.timeout(TIME_LIMIT)]);
    try {
      await run(signal);
    } catch (error) {
      const cause: unknown = signal.aborted ? signal.reason : error;
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new InternalServerErrorException(`The run ended early: ${message}`);
    }
  }
}
