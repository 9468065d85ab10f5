import { Logger } from '@nestjs/common';
import { LOG_CONTEXT } from '../../diagnostics/lock-log.js';
import type { LockError } from '../../errors/lock.error.js';

/** Maximum number of remembered messages, which bounds the memory whatever clients send. */
const MOST_MESSAGES = 1_000;

const logged = new Set<string>();

/**
 * Logs a LockKeyError whose reply hides the message, because a misnamed parameter is the developer's mistake, although
 * the client receives 400. Each message, which names method, placeholder and kind of value, is logged once, so that
 * clients with bad requests do not fill the log.
 */
export function logKeyError({ code, message }: LockError): void {
  if (code !== 'LOCK_KEY' || logged.has(message) || logged.size >= MOST_MESSAGES) return;
  logged.add(message);
  Logger.warn(`${message} Clients do not see this message; it is logged once.`, LOG_CONTEXT);
}
