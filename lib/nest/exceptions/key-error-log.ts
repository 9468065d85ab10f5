import { Logger } from '@nestjs/common';
import { LOG_CONTEXT } from '../../diagnostics/lock-log.js';
import type { LockError } from '../../errors/lock.error.js';

/** Bounds the memory of a process, whatever clients send. */
const MOST_MESSAGES = 1_000;

const logged = new Set<string>();

/**
 * Logs a LockKeyError whose answer hides the message: a misnamed parameter is the developer's mistake, although the client
 * gets 400 for it. Once for each message, which names method, placeholder and kind of value, so that clients with bad
 * requests do not fill the log.
 */
export function logKeyError({ code, message }: LockError): void {
  if (code !== 'LOCK_KEY' || logged.has(message) || logged.size >= MOST_MESSAGES) return;
  logged.add(message);
  Logger.warn(`${message} Clients do not see this message; it is logged once.`, LOG_CONTEXT);
}
