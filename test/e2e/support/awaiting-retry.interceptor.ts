import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { Journal } from './journal.js';

/** Awaits the handler, and notes when it has ended. Nest cannot unsubscribe from it when the client leaves. */
export async function awaitHandler(next: CallHandler, journal: Journal): Promise<unknown> {
  return lastValueFrom(next.handle()).finally(() => journal.write('handled'));
}

/** Awaits the handler, and calls it once more when it fails. */
@Injectable()
export class AwaitingRetryInterceptor implements NestInterceptor {
  constructor(private readonly journal: Journal) {}

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const call = (): Promise<unknown> => awaitHandler(next, this.journal);
    return from(call().catch(call));
  }
}
