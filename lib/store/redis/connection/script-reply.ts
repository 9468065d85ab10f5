import type { ForcedRelease } from '../../store-operations.js';
import { PassingRefusal } from '../../store-errors.js';

const MAX_SHOWN = 40;

/**
 * The error for a reply that no script sends, for example inside a MULTI of a passed-in client. Whether the script has
 * run, or will run, is unknown.
 */
export function strangeReply(reply: unknown): PassingRefusal {
  const shown = typeof reply === 'string' ? JSON.stringify(reply.slice(0, MAX_SHOWN)) : typeof reply;
  return new PassingRefusal(
    `${shown} is not a reply of a script of this package: is the client inside a MULTI?`,
  );
}

/** Reads an integer of a reply; a client with `stringNumbers` returns it as text. */
export function integer(reply: unknown): number {
  const number = typeof reply === 'string' && /^-?\d+$/.test(reply) ? Number(reply) : reply;
  if (Number.isSafeInteger(number)) return number as number;
  throw strangeReply(reply);
}

/** Whether a script replied with success. */
export function isOne(reply: unknown): boolean {
  return integer(reply) === 1;
}

export function text(reply: unknown): string {
  if (typeof reply === 'string') return reply;
  throw strangeReply(reply);
}

/** Reads an array of a reply, with `length` elements if given. */
export function list(reply: unknown, length?: number): unknown[] {
  if (Array.isArray(reply) && (length === undefined || reply.length === length)) return reply as unknown[];
  throw strangeReply(reply);
}

/** Parses the reply of the script for a forced release. */
export function forcedRelease(reply: unknown): ForcedRelease {
  const [released, holders] = list(reply, 2);
  return { released: list(released).map(text), holders: list(holders).map(text) };
}
