import { from, lastValueFrom } from 'rxjs';
import { interceptorOf } from './interceptor.js';
import { Journal } from './journal.js';

/**
 * Awaits the handler, from which Nest cannot unsubscribe then when the client leaves. Calls it once more when it fails,
 * and notes each end.
 */
export const AwaitingRetryInterceptor = interceptorOf((next, journal) => {
  const call = (): Promise<unknown> => lastValueFrom(next.handle()).finally(() => journal.write('handled'));
  return from(call().catch(call));
}, Journal);
