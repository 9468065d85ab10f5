import { Controller, Module, UseGuards, type DynamicModule, type Type } from '@nestjs/common';
import { LockActivity } from './lock-activity.js';
import { INSPECTOR_OPTIONS, LockInspector } from './lock-inspection.js';
import { ActingLockInspectorController, LockInspectorController } from './lock-inspector.controller.js';
import { assertInspectorOptions, type LockInspectorOptions } from './lock-inspector.options.js';

/**
 * Shows who holds which lock, who waits and what was lost: as a page, as JSON and as server-sent events, of an ordinary
 * controller. Guards, a global prefix, versioning and logging of the application apply to it.
 *
 * | request | answer |
 * | --- | --- |
 * | `GET /locks` | the page to a browser; else {@link LockInspection} as JSON, with `?prefix=order:` and `?limit=100` |
 * | `GET /locks/:name`, `GET /locks?name=` | who holds the name and who waits, as `LockService.query` tells |
 * | `GET /locks/events` | what the diagnostics channels tell, as server-sent events |
 * | `DELETE /locks/:name`, `DELETE /locks?name=` | with `actions: true`: releases by force; needs a header `X-Lock-Inspector` |
 *
 * A path has no room for the name `events`, for `..`, and on Fastify for more than 100 characters, unless it is told so.
 *
 * @example
 * ```ts
 * @Module({
 *   imports: [
 *     RedisLockModule.forRoot({ connection: process.env.REDIS_URL }),
 *     LockInspectorModule.forRoot({ path: 'locks', guards: [AdminGuard] }),
 *   ],
 * })
 * export class AppModule {}
 * ```
 */
@Module({})
export class LockInspectorModule {
  /** @throws LockConfigError where neither `guards` nor `public: true` says who may look, or an option cannot be. */
  static forRoot(options: LockInspectorOptions): DynamicModule {
    assertInspectorOptions(options);
    return {
      module: LockInspectorModule,
      imports: options.imports ?? [],
      controllers: [controllerFor(options)],
      providers: [LockActivity, LockInspector, { provide: INSPECTOR_OPTIONS, useValue: options }],
    };
  }
}

/** A class of its own, since a decorator knows path and guards before there is an instance. */
function controllerFor({ path = 'locks', guards = [], actions = false }: LockInspectorOptions): Type {
  const routes = actions ? ActingLockInspectorController : LockInspectorController;
  const controller = class extends routes {};
  Object.defineProperty(controller, 'name', { value: routes.name });
  Controller(path)(controller);
  UseGuards(...guards)(controller);
  return controller;
}
