import { retry } from 'rxjs';
import { interceptorOf } from './interceptor.js';

/** Calls the handler once more when it fails. */
export const RetryInterceptor = interceptorOf((next) => next.handle().pipe(retry(1)));
