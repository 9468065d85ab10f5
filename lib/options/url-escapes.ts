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
