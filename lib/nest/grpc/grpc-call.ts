import type { ArgumentsHost } from '@nestjs/common';
import { isObservable, Observable } from 'rxjs';

/** The part of Metadata of `@grpc/grpc-js` that this package uses, which does not depend on it. */
export interface GrpcMetadata {
  set(key: string, value: string): void;
}

/** A call of `@grpc/grpc-js` on its server, unary or streamed. */
export interface GrpcCall {
  /** Also set after the deadline of the call. */
  readonly cancelled: boolean;
  readonly metadata: GrpcMetadata;
  getDeadline(): unknown;
  on(event: 'cancelled', listener: () => void): unknown;
  off(event: 'cancelled', listener: () => void): unknown;
  /** Stops the flow of requests. Only a call with a stream of requests has it. */
  pause?(): unknown;
  resume?(): unknown;
}

/** The gRPC call of an invocation; undefined for other transports. */
export function grpcCallOf(host: ArgumentsHost): GrpcCall | undefined {
  return host.getType() === 'rpc' ? host.getArgs<unknown[]>().find(isGrpcCall) : undefined;
}

function isGrpcCall(value: unknown): value is GrpcCall {
  const { getDeadline, sendMetadata } = Object(value) as Record<string, unknown>;
  return typeof getDeadline === 'function' && typeof sendMetadata === 'function';
}

/** The stream of requests that Nest passes to a handler of gRPC. */
interface RequestStream extends Observable<unknown> {
  /** Passes on the requests that came before the handler, once. */
  drainBuffer?(): void;
}

/**
 * Keeps the requests of a gRPC stream until the handler subscribes to them. Returns a function that ends the keeping.
 *
 * Nest keeps them only until the handler returns. A locked handler that returns an Observable subscribes later: after
 * the grant. Meanwhile the call is paused, so that the client cannot send more than the window of HTTP/2.
 */
export function keepRequests(host: ArgumentsHost): (() => void) | undefined {
  const call = grpcCallOf(host);
  if (call === undefined) return undefined;
  const args: unknown[] = host.getArgs();
  const [requests] = args as [RequestStream | undefined];
  if (!isObservable(requests) || requests.drainBuffer === undefined) return undefined;
  const kept: RequestStream = new Observable((subscriber) => {
    const subscription = requests.subscribe(subscriber);
    requests.drainBuffer?.();
    // Nest passes the earlier requests on in the next tick; later ones must follow them.
    setImmediate(() => call.resume?.());
    return subscription;
  });
  kept.drainBuffer = () => undefined;
  args[0] = kept;
  call.pause?.();
  // Node does not end a call with requests that nobody has read.
  return () => void call.resume?.();
}
