import { PassingRefusal } from '../../store-errors.js';

const MAX_SHOWN = 40;

/**
 * What a script never answers: something stood in its way, such as a MULTI on a client that was passed in. Whether it has
 * run, or will, is not known.
 */
export function strangeReply(reply: unknown): PassingRefusal {
  const shown = typeof reply === 'string' ? JSON.stringify(reply.slice(0, MAX_SHOWN)) : typeof reply;
  return new PassingRefusal(
    `${shown} is no answer to a script of this package: is the client inside a MULTI?`,
  );
}

/** An integer of a reply; a client with `stringNumbers` gives it as text. */
export function integer(reply: unknown): number {
  const number = typeof reply === 'string' && /^-?\d+$/.test(reply) ? Number(reply) : reply;
  if (Number.isSafeInteger(number)) return number as number;
  throw strangeReply(reply);
}

/** Whether a script says that it did what was asked. */
export function isOne(reply: unknown): boolean {
  return integer(reply) === 1;
}

export function text(reply: unknown): string {
  if (typeof reply === 'string') return reply;
  throw strangeReply(reply);
}

/** An array of a reply, with so many elements where that is known. */
export function list(reply: unknown, length?: number): unknown[] {
  if (Array.isArray(reply) && (length === undefined || reply.length === length)) return reply as unknown[];
  throw strangeReply(reply);
}
