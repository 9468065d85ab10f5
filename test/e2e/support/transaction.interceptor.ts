import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { from, mergeMap, type Observable } from 'rxjs';
import { Journal } from './journal.js';

/** Commits after the handler, and takes its time. */
@Injectable()
export class TransactionInterceptor implements NestInterceptor {
  constructor(private readonly journal: Journal) {}

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(mergeMap((value) => from(this.commit(value))));
  }

  private async commit(value: unknown): Promise<unknown> {
    await delay(20);
    this.journal.write('commit');
    return value;
  }
}
