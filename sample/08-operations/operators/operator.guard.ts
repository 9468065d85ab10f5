import { timingSafeEqual } from 'node:crypto';
import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  UnauthorizedException,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/** Lets in who knows the operators' password: browsers ask for it. Yours may look at a session or a token instead. */
@Injectable()
export class OperatorGuard implements CanActivate {
  private readonly expected = `Basic ${btoa(`operator:${process.env.OPERATOR_PASSWORD ?? ''}`)}`;

  constructor(@Inject(HttpAdapterHost) private readonly adapterHost: HttpAdapterHost) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    if (process.env.OPERATOR_PASSWORD && isEqual(http.getRequest().headers.authorization, this.expected)) {
      return true;
    }
    this.adapterHost.httpAdapter.setHeader(http.getResponse(), 'WWW-Authenticate', 'Basic realm="operators"');
    throw new UnauthorizedException();
  }
}

/** In a time that tells nothing of how much is right. */
function isEqual(given: unknown, expected: string): boolean {
  const [a, b] = [Buffer.from(String(given)), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
