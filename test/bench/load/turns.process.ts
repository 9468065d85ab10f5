import { setTimeout as sleep } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { LockService, RedisLockModule } from '../../../dist/index.js';
import { serveCalls } from '../../support/serve-calls.js';
import { WAIT } from '../adapters/common-settings.js';
import type { RedisAddress } from '../contestant.js';

/** One name, wanted by all callers of this process for as long as `lasts` says. */
export interface Turns {
  readonly redis: RedisAddress;
  readonly name: string;
  /** The option `handoff.max`. */
  readonly max: number;
  readonly callers: number;
  /** Milliseconds in each hold. */
  readonly work: number;
  /** Milliseconds. */
  readonly lasts: number;
}

const opened = new Map<number, Promise<LockService>>();

async function open(redis: RedisAddress, max: number): Promise<LockService> {
  const module = RedisLockModule.forRoot({
    connection: { ...redis },
    wait: WAIT,
    advanced: { handoff: { max } },
  });
  const application = await NestFactory.createApplicationContext(module, { logger: false });
  return application.get(LockService);
}

/** A timer takes a millisecond at least, so what is shorter keeps the processor busy. */
async function during(work: number): Promise<void> {
  if (work >= 1) return sleep(work);
  const end = performance.now() + work;
  while (performance.now() < end);
}

const calls = {
  /** How many holds there were, and the longest wait for one in milliseconds. */
  async take({ redis, name, max, callers, work, lasts }: Turns): Promise<{ holds: number; longest: number }> {
    if (!opened.has(max)) opened.set(max, open(redis, max));
    const locks = await opened.get(max);
    const end = performance.now() + lasts;
    let [holds, longest] = [0, 0];
    const caller = async (): Promise<void> => {
      while (performance.now() < end) {
        const asked = performance.now();
        const lock = await locks?.acquire(name);
        longest = Math.max(longest, performance.now() - asked);
        holds++;
        if (work > 0) await during(work);
        await lock?.release();
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    return { holds, longest };
  },
};

export type TurnsCalls = typeof calls;

process.setSourceMapsEnabled(false);
serveCalls(calls);
