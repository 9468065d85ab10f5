import type { ForcedRelease } from '../forced-release.interface.js';
import { list, text } from './connection/script-reply.js';

/** The last arguments of the scripts for a forced release. */
export function only(owners: readonly string[] | undefined): readonly string[] {
  return owners ? ['only', ...owners] : [];
}

/** Parses the reply of the scripts for a forced release. */
export function forcedRelease(reply: unknown): ForcedRelease {
  const [released, held] = list(reply, 2);
  return { released: list(released).map(text), held: list(held).map(text) };
}
