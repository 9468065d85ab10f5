import type { ArgumentsHost } from '@nestjs/common';

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
