import { tryTo } from '../primitives/try-to.js';

/**
 * A connection URL for a message: without user name, password and query, which can also contain a password. Text that
 * is not a URL is shown only if it is clearly a host and port.
 *
 * @example
 * ```ts
 * redactedConnection('redis://me:secret@cache:6379/1'); // "redis://***@cache:6379/1"
 * ```
 */
export function redactedConnection(text: string): string {
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text)?.[0];
  if (scheme === undefined) {
    return /^[\w.-]+:\d{1,5}$/.test(text) ? JSON.stringify(text) : `(${text.length} characters, not shown)`;
  }
  const rest = text.slice(scheme.length);
  // A password may hold any character, unescaped ones included, so the last @ ends it.
  const afterCredentials = rest.slice(rest.lastIndexOf('@') + 1);
  const server = afterCredentials.replace(/[?#].*$/s, '');
  return JSON.stringify(scheme + (afterCredentials === rest ? '' : '***@') + server);
}

/** Remedy for an invalid escape in a URL: ioredis fails to decode it without naming the position. */
export const BAD_ESCAPE = 'has a % that is not an escape: write it as %25';

/** Whether a URL contains an invalid `%` escape. */
export function hasBadEscape(url: string): boolean {
  return tryTo(() => decodeURIComponent(url)) === undefined;
}
