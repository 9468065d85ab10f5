import { HttpException, type ExecutionContext } from '@nestjs/common';
import { type GrpcCall, grpcCallOf } from '../grpc/grpc-call.js';
import { Abandonment } from '../../primitives/abandonment.js';
import { Fifo, type FifoNode } from '../../primitives/fifo.js';
import { tryTo } from '../../primitives/try-to.js';

/** Milliseconds of waiting after which a call listens to its connection: calls without a wait pay nothing. */
const LISTEN_DELAY = 20;
/** The status of nginx for a request whose client disconnected before the reply. */
const CLIENT_CLOSED_REQUEST = 499;

/** A response, its socket, or its stream on HTTP/2. */
interface Closable {
  readonly destroyed?: boolean;
  readonly writableFinished?: boolean;
  on(event: 'close' | 'finish', listener: () => void): unknown;
  off(event: 'close' | 'finish', listener: () => void): unknown;
}

/** The parts of a request or response in Express, Fastify and GraphQL over HTTP that lead to its connection. */
interface Message extends Partial<Closable> {
  /** Whether the application has sent the whole reply. */
  readonly writableEnded?: boolean;
  readonly raw?: Message;
  readonly res?: Message;
  readonly stream?: Message;
  readonly socket?: Message;
}

const notListening = new Fifo<ClientAbandonment>();
let timer: NodeJS.Timeout | undefined;

function listenToAll(): void {
  timer = undefined;
  for (let each = notListening.first; each; each = notListening.first) {
    notListening.remove(each);
    each.listen();
  }
}

/** An {@link Abandonment} that aborts when the connection of an invocation's client closes. */
export class ClientAbandonment extends Abandonment implements FifoNode<ClientAbandonment> {
  previous: ClientAbandonment | undefined;
  next: ClientAbandonment | undefined;
  private stop: (() => void) | undefined;

  constructor(private readonly context: ExecutionContext) {
    super();
  }

  override addEventListener(type: 'abort', listener: () => void): void {
    const isFirst = !this.isHeard;
    super.addEventListener(type, listener);
    if (!isFirst) return;
    notListening.push(this);
    timer ??= setTimeout(listenToAll, LISTEN_DELAY).unref();
  }

  override removeEventListener(type: 'abort', listener: () => void): void {
    super.removeEventListener(type, listener);
    if (!this.isHeard) this.stopListening();
  }

  /** Whether nobody waits for the reply any more: the invocation was abandoned, or its connection has closed. */
  get isGone(): boolean {
    if (!this.aborted && connectionOf(this.context)?.destroyed === true) this.leave();
    return this.aborted;
  }

  /** Stops listening to the connection, so that its end no longer ends the waits. */
  stopListening(): void {
    notListening.remove(this);
    this.stop?.();
    this.stop = undefined;
  }

  /**
   * Aborts when the connection closes, or at once if it has closed. Has no effect for transports without such a
   * connection.
   */
  listen(): void {
    const connection = connectionOf(this.context);
    if (connection === undefined) return;
    const gone = (): void => this.leave();
    if (connection.destroyed === true) return gone();
    connection.on('close', gone);
    this.stop = () => connection.off('close', gone);
  }

  /** Aborts, unless the client has its reply: a handler may reply through `@Res()` before its work. */
  private leave(): void {
    if (isAnswered(this.context)) return;
    // An HttpException, because Nest logs other errors, although no client waits for the reply.
    this.abort(new HttpException('The client has disconnected', CLIENT_CLOSED_REQUEST));
  }
}

function isAnswered(context: ExecutionContext): boolean {
  if (context.getType() !== 'http') return false;
  const response = context.switchToHttp().getResponse<Message | undefined>();
  return (response?.raw ?? response)?.writableEnded === true;
}

export function connectionOf(context: ExecutionContext): Closable | undefined {
  const call = grpcCallOf(context);
  if (call !== undefined) return connectionOfCall(call);
  if (context.getType() === 'http')
    return closable(context.switchToHttp().getResponse<Message | undefined>());
  if (context.getType<string>() !== 'graphql') return undefined;
  // The application creates this object, which may throw where there is no request.
  return tryTo(() => {
    const { req } = context.getArgByIndex<{ readonly req?: Message } | undefined>(2) ?? {};
    return closable(req?.res) ?? closable(req?.raw?.stream) ?? closable(req?.raw?.socket ?? req?.socket);
  });
}

/** A cancelled gRPC call, or one whose deadline has passed, counts as a closed connection. */
function connectionOfCall(call: GrpcCall): Closable {
  return {
    destroyed: call.cancelled,
    on: (_close, listener) => call.on('cancelled', listener),
    off: (_close, listener) => call.off('cancelled', listener),
  };
}

function closable(message: Message | null | undefined): Closable | undefined {
  const raw = message?.raw ?? message;
  // A response of HTTP/2 lacks `destroyed`.
  const connection = raw?.stream ?? raw;
  return typeof connection?.on === 'function' ? (connection as Closable) : undefined;
}
