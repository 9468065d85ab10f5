/** An accessor, or a trap of a Proxy, that throws. */
export function unreadable(): never {
  throw new Error('This value cannot be read');
}
