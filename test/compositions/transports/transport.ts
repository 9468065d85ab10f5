import type { INestApplicationContext, NestApplicationOptions, Type } from '@nestjs/common';
import type { Scene } from '../scene.js';

/** The route of the locked handler, and the route of the same handler without a lock. */
type Route = 'work' | 'plain';

/** A request of a client. */
export interface Call {
  /** The answer as text; begins with `no answer` if the connection has ended without one. Never rejects. */
  readonly answer: Promise<string>;
  leave(): void;
}

/** A running application, and its clients. */
export interface Running {
  readonly app: INestApplicationContext;
  call(id: string, route: Route): Call;
  /** Closes the clients. */
  disconnect(): void;
}

/** A way on which requests reach the handlers of an application. */
export interface Transport {
  /** Imports of the application's module. */
  readonly imports: readonly Type[] | readonly object[];
  decorateClass(options: object): ClassDecorator;
  route(route: Route): MethodDecorator;
  /** A value in the form in which the transport sends it. */
  valueOf(text: string): unknown;
  errorOf(text: string): Error;
  start(module: Type, scene: Scene, options: NestApplicationOptions): Promise<Running>;
}
