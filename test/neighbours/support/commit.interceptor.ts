import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { concatMap, type Observable } from 'rxjs';
import { Stock, type Order } from './stock.js';

/** Commits after the handler, and answers after the commit. */
@Injectable()
export class CommitInterceptor implements NestInterceptor<Order, string> {
  constructor(private readonly stock: Stock) {}

  intercept(_context: ExecutionContext, next: CallHandler<Order>): Observable<string> {
    return next.handle().pipe(concatMap((order) => this.stock.commit(order)));
  }
}
