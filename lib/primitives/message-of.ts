import { tryTo } from './try-to.js';

/** The message of an error, or the text of another value. Never throws: users' functions may throw any value. */
export function messageOf(problem: unknown): string {
  return tryTo(() => textOf(problem)) ?? 'a value without text';
}

/** The stack of an error, or the text of another value. Never throws. */
export function stackOf(problem: unknown): string {
  const stack = tryTo(() => (Object(problem) as { stack?: unknown }).stack);
  return typeof stack === 'string' && stack !== '' ? stack : messageOf(problem);
}

/** For a host with several addresses, Node collects their errors in one without a message. */
function textOf(problem: unknown): string {
  const { errors, message } = Object(problem) as Partial<AggregateError>;
  return message === '' && Array.isArray(errors) ? errors.map(ownText).join('; ') : ownText(problem);
}

/** By shape: an error of another realm, such as one of Node in Jest, is no instance of this Error. */
function ownText(problem: unknown): string {
  const { message } = Object(problem) as { message?: unknown };
  return typeof message === 'string' && message !== '' ? message : String(problem);
}
