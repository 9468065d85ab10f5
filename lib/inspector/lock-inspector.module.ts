import { Controller, Module, UseGuards, type DynamicModule, type Type } from '@nestjs/common';
import { LockActivity } from './lock-activity.js';
import { INSPECTOR_OPTIONS, LockInspector } from './lock-inspection.js';
import { ActingLockInspectorController, LockInspectorController } from './lock-inspector.controller.js';
import { assertInspectorOptions, type LockInspectorOptions } from './lock-inspector.options.js';

/**
 * Shows holders, waiters and lost holds: as a page, as JSON and as server-sent events of an ordinary controller.
 * Guards, a global prefix, versioning and logging of the application apply to it.
 *
 * | request | reply |
 * | --- | --- |
 * | `GET /locks` | the page for a browser; otherwise {@link LockInspection} as JSON, with `?prefix=order:` and `?limit=100` |
 * | `GET /locks/:name`, `GET /locks?name=` | holders and waiters of the name, as `LockService.query` returns them |
 * | `GET /locks/events` | events of the diagnostics channels, as server-sent events |
 * | `DELETE /locks/:name`, `DELETE /locks?name=` | with `actions: true`: releases forcibly; needs the header `X-Lock-Inspector` |
 *
 * A path cannot contain the names `events` and `..`, and on Fastify by default no name of more than 100 characters: use
 * `?name=` for those.
 *
 * @example
 * ```ts
 * imports: [
 *   RedisLockModule.forRoot({ connection: process.env.REDIS_URL }),
 *   LockInspectorModule.forRoot({ path: 'locks', guards: [AdminGuard] }),
 * ],
 * ```
 */
@Module({})
export class LockInspectorModule {
  /** @throws LockConfigError for an invalid option, or if neither `guards` nor `public: true` is given. */
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

/** Creates a class for each module, because decorators need path and guards before an instance exists. */
function controllerFor({ path = 'locks', guards = [], actions = false }: LockInspectorOptions): Type {
  const routes = actions ? ActingLockInspectorController : LockInspectorController;
  const controller = class extends routes {};
  Object.defineProperty(controller, 'name', { value: routes.name });
  Controller(path)(controller);
  UseGuards(...guards)(controller);
  return controller;
}
