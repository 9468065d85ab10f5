import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { FILTER_CATCH_EXCEPTIONS } from '@nestjs/common/constants.js';
import type { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';
import { LOG_CONTEXT } from '../../diagnostics/lock-log.js';
import { LockError } from '../../errors/lock.error.js';
import type { LockService } from '../../service/lock.service.js';
import { LockExceptionFilter } from './lock-exception.filter.js';

/**
 * Answers lock errors that no filter of the application catches: those of guards and middleware, which run before the
 * interceptor of locks, and those of messages.
 *
 * Nest asks the last filter first, those of methods and classes before the global ones: registered in front of these,
 * this one comes after all that the application has, whenever it adds them.
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

  override catch(error: LockError, host: ArgumentsHost): unknown {
    // Whom the error reaches there, nobody knows: an event, for one, has no sender who would read an answer.
    if (!['http', 'graphql'].includes(host.getType<string>()))
      Logger.error(error.message, error.stack, LOG_CONTEXT);
    // oxlint-disable-next-line promise/valid-params -- that of a filter, not of a promise
    return super.catch(error, host);
  }

  /** A global filter for HttpExceptions gives this answer the form of the others, as it does for locked controllers. */
  protected override filterFor(exception: Error): ExceptionFilter {
    const filters = this.application.getGlobalFilters().toReversed();
    const own = filters.find((filter) => typesOf(filter).some((type) => exception instanceof type));
    return own === undefined || own instanceof LastResortFilter ? super.filterFor(exception) : own;
  }
}

function typesOf(filter: ExceptionFilter): readonly (abstract new () => unknown)[] {
  return Reflect.getMetadata(FILTER_CATCH_EXCEPTIONS, filter.constructor) ?? [];
}
