import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { Observable } from 'rxjs';

/** Classes by which Nest finds what a function is given. */
type Tokens<Given extends readonly object[]> = {
  [I in keyof Given]: abstract new (...args: never[]) => Given[I];
};

/**
 * An interceptor that is a function of the handler and of providers of the application.
 *
 * @example
 * const LateInterceptor = interceptorOf(
 *   (next, gate) => from(gate.pass()).pipe(switchMap(() => next.handle())),
 *   Gate,
 * );
 */
export function interceptorOf<Given extends readonly object[]>(
  around: (next: CallHandler<unknown>, ...given: Given) => Observable<unknown>,
  ...tokens: Tokens<Given>
): Type<NestInterceptor> {
  @Injectable()
  class Interceptor implements NestInterceptor {
    constructor(private readonly application: ModuleRef) {}

    intercept(_context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
      const given = tokens.map((token) => this.application.get<object>(token, { strict: false }));
      return around(next, ...(given as unknown as Given));
    }
  }
  return Interceptor;
}
