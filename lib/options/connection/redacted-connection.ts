/**
 * A connection URL as a message may show it: without user name, password and query, which can carry
 * a password too. Text that is no URL is shown only where it is plainly a host and port.
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
  const place = afterCredentials.replace(/[?#].*$/s, '');
  return JSON.stringify(scheme + (afterCredentials === rest ? '' : '***@') + place);
}

/** What to do about a `%` that begins no escape: ioredis decodes the parts of a URL, and fails on it without saying where. */
export const BAD_ESCAPE = 'has a % that begins no escape: write it as %25';

/** Whether everything in a URL that is escaped by `%` can be decoded. */
export function hasBadEscape(url: string): boolean {
  try {
    decodeURIComponent(url);
    return false;
  } catch {
    return true;
  }
}
