import type { CodeBlock } from './markdown-document.js';

const IMPORTS = [
  `import { setTimeout as delay } from 'node:timers/promises';`,
  `import { ConflictException, Get, Param, ParseIntPipe, Post, Sse, type MessageEvent } from '@nestjs/common';`,
  `import { OnEvent } from '@nestjs/event-emitter';`,
  `import { GrpcStreamMethod } from '@nestjs/microservices';`,
  `import { Cron, Interval } from '@nestjs/schedule';`,
  `import { CurrentLock, isLockError, Locked, LockTimeoutError, Once, type Lock } from 'nest-redis-lock';`,
  `import { map, Observable } from 'rxjs';`,
  `import { Application, Receipt, redis, Transactional, type Item, type Order, type Surroundings } from './fragment-context.js';`,
].join(' ');

/**
 * A TypeScript block as a file that can be compiled: as it is, or a fragment with what belongs around it. The mark
 * `members` is for members of a class, `statements` for the inside of an async function.
 *
 * A fragment begins on the second line of its file.
 */
export function sourceOf({ marks, text }: CodeBlock): string {
  if (marks.includes('members')) {
    return `${IMPORTS} export abstract class Fragment extends Application {\n${text}\n}\n`;
  }
  if (marks.includes('statements')) {
    const names = '{ locks, bento, cache, queue, job, query, work, collect, transfer }: Surroundings';
    return `${IMPORTS} export async function fragment(${names}): Promise<unknown> {\n${text}\nreturn undefined;\n}\n`;
  }
  return text;
}
