import type { ShapeName } from './shapes.js';

/** The ways on which requests reach a handler. */
export const TRANSPORTS = ['express', 'fastify', 'tcp', 'ws', 'graphql', 'grpc'] as const;

/** The results of a handler. `fails once` throws at the first attempt of each request. */
export const RESULTS = [
  'promise',
  'value',
  'observable',
  'promise of an observable',
  'throws',
  'throws an HttpException',
  'fails once',
  'failing observable',
  'file',
  'sse',
] as const;

/**
 * What stands between Nest and the method as its class declares it. An `agent` replaces the function that Nest calls and
 * copies its metadata by reference, as instrumentations do. A `proxy` stands before each instance.
 */
export const WRAPPINGS = ['none', 'bound', 'proxy', 'agent', 'subclass', 'override', 'mixin'] as const;

/** An interceptor around the handler. */
export interface Around {
  readonly shape: ShapeName;
  readonly level: 'global' | 'class' | 'method';
  /** Milliseconds from the handler's result to the commit. */
  readonly commitAfter: number;
  /** The lock that a locking interceptor holds itself: of the name of the handler, or of one of its own. */
  readonly lock?: { readonly name: 'same name' | 'other name'; readonly mode: 'exclusive' | 'shared' };
}

/** A client with one request. */
export interface Client {
  /** Milliseconds until it sends the request. */
  readonly at: number;
  /** Milliseconds after which it leaves. */
  readonly leaves?: number | undefined;
  /** Whether these begin with the arrival of the request at the handler's interceptors, not when it is sent. */
  readonly afterArrival?: boolean | undefined;
}

/** An application, and the requests to it. */
export interface Composition {
  readonly transport: (typeof TRANSPORTS)[number];
  /** The outermost first, within each level. */
  readonly interceptors: readonly Around[];
  readonly guard: boolean;
  readonly pipe: boolean;
  readonly result: (typeof RESULTS)[number];
  readonly wrapping: (typeof WRAPPINGS)[number];
  readonly scope: 'singleton' | 'request' | 'durable';
  readonly locked: 'handler' | 'service' | 'both';
  /** The service below a locked handler locks the name of the handler, or one of its own. */
  readonly below: 'same name' | 'other name';
  readonly names: 1 | 2;
  /** `short` is shorter than the work of the others. */
  readonly wait: 'long' | 'short';
  /** What a handler leaves running: a timer of an hour, or a call of the locked service after its own end. */
  readonly leftBehind: 'nothing' | 'timer' | 'call';
  /** Milliseconds of work under each lock. */
  readonly work: number;
  readonly clients: readonly Client[];
  /** Milliseconds until the application shuts down. */
  readonly shutdown?: number | undefined;
}

/** Whether the handler of a composition has its own lock. */
export function locksHandler({ locked }: Composition): boolean {
  return locked !== 'service';
}

/** Whether a composition has an interceptor of a shape. */
export function hasShape({ interceptors }: Composition, ...shapes: readonly ShapeName[]): boolean {
  return interceptors.some(({ shape }) => shapes.includes(shape));
}

/** The interceptors of a composition in the order in which they surround the handler, the outermost first. */
export function fromOutside({ interceptors }: Composition): Around[] {
  const levels: readonly Around['level'][] = ['global', 'class', 'method'];
  return levels.flatMap((level) => interceptors.filter((each) => each.level === level));
}

/** Whether Nest unsubscribes from the result of a client that leaves. */
export function unsubscribesWhoLeaves(composition: Composition): boolean {
  const { transport } = composition;
  return transport === 'ws' || transport === 'grpc' || streamsResult(composition);
}

/** Whether the handler of a composition returns an Observable, or a Promise of one. */
export function streamsResult({ result }: Composition): boolean {
  return result.includes('observable') || result === 'sse';
}
