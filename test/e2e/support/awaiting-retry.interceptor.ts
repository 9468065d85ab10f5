import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { Journal } from './journal.js';

/**
 * Awaits the handler, from which Nest cannot unsubscribe then when the client leaves. Calls it once more when it fails,
 * and notes each end.
 */
@Injectable()
export class AwaitingRetryInterceptor implements NestInterceptor {
  constructor(private readonly journal: Journal) {}

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const call = (): Promise<unknown> =>
      lastValueFrom(next.handle()).finally(() => this.journal.write('handled'));
    return from(call().catch(call));
  }
}
