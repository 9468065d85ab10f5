import { Catch, Logger, type ExceptionFilter } from '@nestjs/common';
import { FILTER_CATCH_EXCEPTIONS } from '@nestjs/common/constants.js';
import type { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';
import { LOG_CONTEXT } from '../../diagnostics/lock-log.js';
import { replyFor } from '../../errors/error-replies.js';
import { LockError } from '../../errors/lock.error.js';
import type { LockService } from '../../service/lock.service.js';
import { LockExceptionFilter } from './lock-exception.filter.js';
import { detailedMessage } from './public-message.js';

/**
 * Handles lock errors that no filter of the application catches: errors of guards and middleware, which run before the
 * LockInterceptor, and of message handlers.
 *
 * Nest asks the last filter first, and filters of methods and classes before global ones. This filter is registered in
 * front of the global ones, so it runs after all filters of the application, whenever they are added.
 */
@Catch(LockError)
export class LastResortFilter extends LockExceptionFilter {
  constructor(
    adapterHost: HttpAdapterHost,
    service: LockService,
    private readonly application: ApplicationConfig,
  ) {
    super(adapterHost, service);
  }

  /** Over message transports, nobody may read the reply: an event, for example, has no sender that waits. */
  protected override log(error: LockError, type: string): void {
    if (['http', 'graphql'].includes(type)) return;
    if (replyFor(error).isExpected) Logger.warn(error.message, LOG_CONTEXT);
    else Logger.error(detailedMessage(error), error.stack, LOG_CONTEXT);
  }

  /** Lets a global filter for HttpExceptions format this reply, as it formats the replies of controllers. */
  protected override filterFor(exception: Error): ExceptionFilter {
    const filters = this.application.getGlobalFilters().toReversed();
    const own = filters.find((filter) => typesOf(filter).some((type) => exception instanceof type));
    return own === undefined || own instanceof LastResortFilter ? super.filterFor(exception) : own;
  }
}

function typesOf(filter: ExceptionFilter): readonly (abstract new () => unknown)[] {
  return Reflect.getMetadata(FILTER_CATCH_EXCEPTIONS, filter.constructor) ?? [];
}
